// Copies with shifted or spread addresses: the cost of a warp's request by alignment and stride.
#include <cstdint>

#include "coalescing/rules.h"
#include "harness/harness.h"

constexpr int kThreads = 256;

// Claim: an offset that is no multiple of 8 floats makes a warp's 128 bytes touch 5 sectors instead of 4.
template <class T>
__global__ void copy_offset(const T* in, T* out, int offset, int n) {
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i < n) out[i + offset] = in[i + offset];
}

// Claim: at stride s a warp's 32 floats spread over min(32, 4 s) sectors: from stride 8 on every word needs a separate
// sector.
template <class T>
__global__ void copy_stride(const T* in, T* out, int stride, int n) {
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i < n) out[i * stride] = in[i * stride];
}

namespace {

constexpr int kMost = 32;

const lab::Topic kTopic = {
    .name = "coalescing",
    .title = "offset and strided copies: transactions by alignment and stride",
    .document = "001 (Advanced CUDA)",
    .shows =
        "The same copy from shifted and from strided addresses. Its cost depends on the GPU generation: strict "
        "half-warps, then segments, then cache lines, then sectors.",
    .size_names = "N",
    .quick_sizes = "65536",
    .full_sizes = "2097152",
    .types = "float,double",
    .models = "fx5600,gtx280,m2090,k40c,v100,h200",
    .rungs = {{"shifted", "out[i + k] = in[i + k], k of 0 to 32", lab::Role::sweep},
              {"strided", "out[i k] = in[i k], k of 1 to 32", lab::Role::sweep}},
    .options = {{"k", "all", "only these offsets or strides, as 1,2,8"}},
};

// Checks the copied elements, and that all other elements still hold the poison.
template <class T>
lab::Verdict verify(const std::vector<T>& in, const std::vector<T>& out, int n, int first, int step) {
  std::vector<T> got(n), expected(n);
  for (int i = 0; i < n; ++i) {
    got[i] = out[first + size_t(i) * step];
    expected[i] = in[first + size_t(i) * step];
  }
  lab::Verdict verdict = lab::compare(got, expected);
  T poison;
  std::memset(&poison, 0xff, sizeof poison);
  size_t next = first;  // the next element that should be written
  for (size_t at = 0; at < out.size(); ++at) {
    if (at == next)
      next += step;
    else
      verdict.wrong += std::memcmp(&out[at], &poison, sizeof poison) != 0;
  }
  return verdict;
}

template <class T>
void run_size(lab::Program& program, const lab::Size& size, const char* type, const std::vector<long>& chosen) {
  const int n = static_cast<int>(size[0]);
  const size_t most = size_t(n) * std::max(1l, *std::max_element(chosen.begin(), chosen.end())) + kMost;
  if (!program.fits(size, 2.0 * most * sizeof(T), 2.0 * most * sizeof(T))) return;
  const std::vector<T> in = lab::Random(5).values<T>(most);
  const lab::DeviceArray<T> from(in);
  const auto run = [&](const char* rung, const char* parameter, auto kernel, int k, int first, int step) {
    lab::DeviceArray<T> to(size_t(n - 1) * step + first + 1);
    program.run(
        {rung, size, type, {2.0 * n * sizeof(T), 0}, {{parameter, k}}}, [&] { to.poison(); },
        [&] { kernel<<<lab::blocks(n, kThreads), kThreads>>>(from.data(), to.data(), k, n); },
        [&] { return verify(in, to.host(), n, first, step); });
  };
  for (const int k : chosen)
    if (program.chosen("shifted")) run("shifted", "offset", copy_offset<T>, k, k, 1);
  for (const int k : chosen)
    if (k > 0 && program.chosen("strided")) run("strided", "stride", copy_stride<T>, k, 0, k);
}

// Counts predicted by the rules. Offset 0 and stride 1 are the same copy.
void add_note(lab::Program& program) {
  std::string text =
      "Loads of one warp, 32 floats, by the rules of each compute capability: transactions / bytes moved for\n"
      "the 128 bytes wanted.\n            ";
  char line[128];
  for (const Rule& rule : kRules) {
    std::snprintf(line, sizeof line, "%14s", rule.name);
    text += line;
  }
  const auto add = [&](const char* what, int k, int start, int step) {
    std::snprintf(line, sizeof line, "\n%s %-4d ", what, k);
    text += line;
    for (const Rule& rule : kRules) {
      const Transactions t = rule.loads({start, step});
      std::snprintf(line, sizeof line, "%7d / %4d", t.count, t.bytes);
      text += line;
    }
  };
  for (const int k : {0, 1, 2, 4, 8, 12, 16, 17, 24, 32}) add("offset", k, k * kWordBytes % 128, kWordBytes);
  for (const int k : {2, 3, 4, 8, 16, 32}) add("stride", k, 0, k * kWordBytes);
  text +=
      "\n2.x stores go by sectors of 32 bytes (the last column).\n"
      "The document measures these two copies on a Quadro FX 5600 (compute capability 1.0, 77 GB/s peak) and\n"
      "a GTX 280 (1.3, 141 GB/s peak; 1107 MHz x 64 B x 2 = 131.9 GiB/s), as curves without numbers. By the\n"
      "rules the first pays 8 times the bytes for every offset but 0, 16 and 32, the second 1.5 to 1.75 times;\n"
      "a stride of 2 wastes half of what the second moves and is as bad as any offset on the first.\n";
  program.note("what the rules say", text);
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  std::vector<long> chosen;
  const std::string k = program.line().option("k");
  if (k == "all")
    for (long i = 0; i <= kMost; ++i) chosen.push_back(i);
  else
    for (const std::string& part : lab::CommandLine::split(k, ',')) {
      char* end = nullptr;
      const long value = std::strtol(part.c_str(), &end, 10);
      if (part.empty() || *end || value < 0 || value > kMost)
        program.line().fail("--k takes whole numbers from 0 to 32, not '" + part + "'");
      chosen.push_back(value);
    }
  for (const lab::Size& size : program.sizes()) {
    if (size[0] > 0x7fffffff - kThreads) program.line().fail("N is at most 2147483391");
    for (const std::string& type : program.types())
      if (type == "double")
        run_size<double>(program, size, "double", chosen);
      else
        run_size<float>(program, size, "float", chosen);
  }
  add_note(program);
  return program.finish();
}
