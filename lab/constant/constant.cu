// Constant memory: fast if the lanes of a warp read one address, serial if they do not. The same table is read from
// constant, shared and global memory at 1 to 32 different addresses a warp.
#include "harness/harness.h"

constexpr int kTable = 2048;  // floats
constexpr int kReads = 64;    // reads of one thread
constexpr int kThreads = 256;

__constant__ float constant_table[kTable];

// Lanes read `distinct` different neighbouring words: the offset is the lane number modulo `distinct`.
__device__ int first_word(int distinct) {
  return threadIdx.x & (distinct - 1);
}
__device__ int word(int first, int read) {
  return (first + read * 32) & (kTable - 1);
}

// Claim: the constant cache serves one address a cycle, so a request with k different addresses takes k passes.
__global__ void read_constant(float* out, int distinct, int n) {
  const int first = first_word(distinct);
  float sum = 0;
  for (int r = 0; r < kReads; ++r) sum += constant_table[word(first, r)];
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i < n) out[i] = sum;
}

// Claim: shared memory serves 32 different words of 32 banks as fast as one word: one wavefront for any k.
__global__ void read_shared(float* out, const float* table, int distinct, int n) {
  __shared__ float copy[kTable];
  for (int w = threadIdx.x; w < kTable; w += kThreads) copy[w] = table[w];
  __syncthreads();
  const int first = first_word(distinct);
  float sum = 0;
  for (int r = 0; r < kReads; ++r) sum += copy[word(first, r)];
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i < n) out[i] = sum;
}

// Claim: global memory costs one sector for up to 8 neighbouring words, 4 for 32. The L1 cache serves them.
__global__ void read_global(float* out, const float* table, int distinct, int n) {
  const int first = first_word(distinct);
  float sum = 0;
  for (int r = 0; r < kReads; ++r) sum += table[word(first, r)];
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i < n) out[i] = sum;
}

// Claim: the read-only path (ld.global.nc) reads the same sectors. It only promises that no thread writes them.
__global__ void read_only(float* out, const float* __restrict__ table, int distinct, int n) {
  const int first = first_word(distinct);
  float sum = 0;
  for (int r = 0; r < kReads; ++r) sum += __ldg(table + word(first, r));
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i < n) out[i] = sum;
}

namespace {

const lab::Topic kTopic = {
    .name = "constant",
    .title = "constant memory: one address for the warp, or many",
    .document = "000 (COSC 407)",
    .shows =
        "The constant cache broadcasts one word to all lanes; lanes with different words wait for each other. Shared "
        "and global memory are not affected.",
    .size_names = "N",
    .quick_sizes = "65536",
    .full_sizes = "16777216",
    .types = "float",
    .rungs = {{"constant", "from constant memory: passes = different addresses", lab::Role::sweep},
              {"shared", "from shared memory: one wavefront, no conflicts", lab::Role::sweep},
              {"global", "from global memory through L1", lab::Role::sweep},
              {"read-only", "from global memory by ld.global.nc", lab::Role::sweep}},
};

std::vector<double> reference(const std::vector<float>& table, int distinct, long n) {
  std::vector<double> sums(static_cast<size_t>(n));
  for (long i = 0; i < n; ++i)
    for (int r = 0; r < kReads; ++r) sums[i] += table[((i % kThreads & (distinct - 1)) + r * 32) & (kTable - 1)];
  return sums;
}

void run_size(lab::Program& program, const lab::Size& size) {
  const long n = size[0];
  if (!program.fits(size, 4.0 * n, 12.0 * n)) return;
  const std::vector<float> table = lab::Random(6).floats(kTable);
  lab::DeviceArray<float> out(n), global(table);
  CHECK_CUDA(cudaMemcpyToSymbol(constant_table, table.data(), sizeof(float) * kTable));
  const int grid = lab::blocks(n, kThreads), count = static_cast<int>(n);
  for (const int distinct : {1, 2, 4, 8, 16, 32}) {
    const std::vector<double> expected = reference(table, distinct, n);
    const double tolerance = lab::sum_tolerance(kReads, lab::kUnitFloat);
    const lab::Work work{4.0 * n, static_cast<double>(n) * kReads};
    const auto run = [&](const char* rung, auto launch) {
      program.run(
          {rung, size, "float", work, {{"addresses", distinct}}}, [&] { out.poison(); }, launch,
          [&] { return lab::compare(out.host(), expected, tolerance); });
    };
    run("constant", [&] { read_constant<<<grid, kThreads>>>(out.data(), distinct, count); });
    run("shared", [&] { read_shared<<<grid, kThreads>>>(out.data(), global.data(), distinct, count); });
    run("global", [&] { read_global<<<grid, kThreads>>>(out.data(), global.data(), distinct, count); });
    run("read-only", [&] { read_only<<<grid, kThreads>>>(out.data(), global.data(), distinct, count); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  for (const lab::Size& size : program.sizes()) run_size(program, size);
  return program.finish();
}
