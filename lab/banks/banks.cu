// Reads of shared memory in the patterns of the documents, and the number of passes through the banks that each takes.
#include <algorithm>
#include <numeric>

#include "banks/rules.h"
#include "harness/harness.h"

constexpr int kWords = 1024, kThreads = 256;
constexpr int kShift = 64;  // words between reads: a whole row of the widest banks, so that banks stay the same

__device__ void add(float& sum, float value) {
  sum += value;
}
__device__ void add(double& sum, double value) {
  sum += value;
}
__device__ void add(float4& sum, float4 value) {
  sum.x += value.x;
  sum.y += value.y;
  sum.z += value.z;
  sum.w += value.w;
}

// Claim: a read takes as many passes as the busiest bank has different words to deliver. Lanes that read the same word
// are served together.
template <class Word>
__global__ void read_banks(const int* places, const Word* in, Word* out, int rounds) {
  __shared__ Word words[kWords];
  for (int i = threadIdx.x; i < kWords; i += kThreads) words[i] = in[i];
  __syncthreads();
  const int place = places[threadIdx.x % 32];
  Word sum = {};
  for (int round = 0; round < rounds; ++round) add(sum, words[(place + round * kShift) % kWords]);
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

namespace {

const lab::Topic kTopic = {
    .name = "banks",
    .title = "shared memory: passes through the banks by pattern and word size",
    .document = "001 (Advanced CUDA)",
    .shows =
        "Successive words are in successive banks. The cost is the number of different words that the lanes need from "
        "one bank: odd strides, permutations and broadcasts are free, a stride of 2^k costs up to "
        "2^k.",
    .size_names = "ROUNDS",
    .quick_sizes = "64",
    .full_sizes = "4096",
    .types = "float,double,float4",
    .models = "gtx280,k40c,h200",
    .rungs = {{"strided", "lane l reads word s l", lab::Role::sweep},
              {"permutation", "32 words in random order", lab::Role::sweep},
              {"broadcast", "all lanes read one word", lab::Role::sweep},
              {"pairs", "lanes 2 k and 2 k + 1 read word k", lab::Role::sweep},
              {"two words", "even lanes read word 0, odd lanes word 64: one bank", lab::Role::sweep}},
};

struct Pattern {
  const char* rung;
  int stride;  // for "strided" only
  Places places;
};

std::vector<Pattern> patterns() {
  const auto of = [](auto place) {
    Places places(32);
    for (int lane = 0; lane < 32; ++lane) places[lane] = place(lane);
    return places;
  };
  std::vector<Pattern> all;
  for (const int s : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33})
    all.push_back({"strided", s, of([s](int lane) { return s * lane; })});
  Places random = of([](int lane) { return lane; });
  lab::Random source(9);
  for (int i = 31; i > 0; --i) std::swap(random[i], random[source.below(i + 1)]);
  all.push_back({"permutation", 0, random});
  all.push_back({"broadcast", 0, of([](int) { return 5; })});
  all.push_back({"pairs", 0, of([](int lane) { return lane / 2; })});
  all.push_back({"two words", 0, of([](int lane) { return 64 * (lane % 2); })});
  return all;
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

// Word consists of one or several values of Scalar.
template <class Word, class Scalar>
void run_size(lab::Program& program, const lab::Size& size, const char* type) {
  constexpr int kParts = sizeof(Word) / sizeof(Scalar);
  const int rounds = static_cast<int>(size[0]), grid = 2 * attribute(cudaDevAttrMultiProcessorCount);
  const std::vector<Scalar> host = lab::Random(8).values<Scalar>(size_t(kWords) * kParts);
  std::vector<Word> words(kWords);
  std::memcpy(words.data(), host.data(), sizeof(Word) * kWords);
  const lab::DeviceArray<Word> in(words);
  lab::DeviceArray<Word> out(size_t(grid) * kThreads);
  for (const Pattern& pattern : patterns()) {
    lab::Case row = {pattern.rung, size, type, {}};
    if (pattern.stride) row.parameters = {{"stride", pattern.stride}};
    // 1.x also keeps a kernel's arguments in shared memory.
    if (in.bytes() + 64 > static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlock))) {
      program.skip(row, "1024 words of 16 bytes and the arguments do not fit this GPU's shared memory");
      continue;
    }
    const lab::DeviceArray<int> places(pattern.places);
    program.run(
        row, [&] { out.poison(); },
        [&] { read_banks<<<grid, kThreads>>>(places.data(), in.data(), out.data(), rounds); },
        [&] {
          std::vector<double> expected(32 * kParts);
          for (int lane = 0; lane < 32; ++lane)
            for (long round = 0; round < rounds; ++round)
              for (int i = 0; i < kParts; ++i)
                expected[lane * kParts + i] += host[(pattern.places[lane] + round * kShift) % kWords * kParts + i];
          const std::vector<Word> sums = out.host();
          std::vector<Scalar> got(sums.size() * kParts);
          std::memcpy(got.data(), sums.data(), sums.size() * sizeof(Word));
          std::vector<double> all(got.size());
          for (size_t i = 0; i < all.size(); ++i) all[i] = expected[i % expected.size()];
          const double unit = sizeof(Scalar) == 8 ? lab::kUnitDouble : lab::kUnitFloat;
          return lab::compare(got, all, lab::sum_tolerance(rounds, unit));
        });
  }
}

// Passes of a read in each pattern, for words of 4, 8 and 16 bytes.
void add_note(lab::Program& program) {
  std::string text =
      "Passes of one warp's read by the published rules, for words of 4 / 8 / 16 bytes:\n"
      "                  16 banks, 1.x         32 banks  3.x, 4-byte mode  3.x, 8-byte mode\n";
  char line[160];
  for (const Pattern& pattern : patterns()) {
    std::snprintf(line, sizeof line, pattern.stride ? "%s %-4d" : "%s", pattern.rung, pattern.stride);
    std::string cells = line;
    cells.resize(12, ' ');
    std::snprintf(line, sizeof line, "%8d /%3d /%3d", passes_16_banks(pattern.places, 4),
                  passes_16_banks(pattern.places, 8), passes_16_banks(pattern.places, 16));
    cells += line;
    for (const Banks& rule : {kBanks32, kBanks3x4, kBanks3x8}) {
      std::snprintf(line, sizeof line, "%8d /%3d /%3d", passes(pattern.places, 4, rule),
                    passes(pattern.places, 8, rule), passes(pattern.places, 16, rule));
      cells += line;
    }
    text += cells + "\n";
  }
  text +=
      "16 banks serve half-warps, so 2 passes are the least there; 32 banks serve 128 bytes, so 8-byte words\n"
      "take 2 and 16-byte words 4 at least. Lanes that want the same word are served together, on 1.x for one\n"
      "word a pass only. GPUs of today also serve both halves at once where they want the same 8- or 16-byte\n"
      "words (broadcast, pairs), which the rule above does not count. The 8-byte mode of 3.x is switched on by\n"
      "the program, with a call that CUDA 13 marks as deprecated; the virtual K40 is in the 4-byte mode.\n";
  program.note("what the rules say", text);
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  for (const lab::Size& size : program.sizes()) {
    if (size[0] > 1000000) program.line().fail("ROUNDS is at most 1000000");
    for (const std::string& type : program.types())
      if (type == "float4")
        run_size<float4, float>(program, size, "float4");
      else if (type == "double")
        run_size<double, double>(program, size, "double");
      else
        run_size<float, float>(program, size, "float");
  }
  add_note(program);
  return program.finish();
}
