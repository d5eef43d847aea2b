// Copies whose addresses are shifted or spread: what a warp's request costs by alignment and stride.
//
//   coalescing [N]              N = 262144 threads; every offset of 0 to 32 and stride of 1 to 32 of the sweep below
//   coalescing offset K [N]     one offset, in floats
//   coalescing stride K [N]     one stride, in floats
#include "harness/harness.h"

constexpr int kThreads = 256;

// Claim: an offset that is no multiple of 8 floats makes a warp's 128 bytes touch 5 sectors instead of 4.
__global__ void copy_offset(const float* in, float* out, int offset, int n) {
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i < n) out[i + offset] = in[i + offset];
}

// Claim: at stride s a warp's 32 words spread over min(32, 4 s) sectors: from 8 on every word costs a sector of its
// own.
__global__ void copy_stride(const float* in, float* out, int stride, int n) {
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i < n) out[i * stride] = in[i * stride];
}

namespace {

void run(lab::Report& report, bool strided, int k, int n) {
  lab::require_memory("coalescing", 24.0 * (strided ? double(n) * k : double(n) + k));
  const size_t count = strided ? size_t(n) * k : size_t(n) + k;
  const std::vector<float> in = lab::Random(5).floats(count);
  lab::DeviceArray<float> from(in), to(count);
  CHECK_CUDA(cudaMemset(to.data(), 0, to.bytes()));  // what no thread writes stays 0
  const int grid = lab::blocks(n, kThreads);
  if (strided)
    copy_stride<<<grid, kThreads>>>(from.data(), to.data(), k, n);
  else
    copy_offset<<<grid, kThreads>>>(from.data(), to.data(), k, n);
  CHECK_KERNEL();
  std::vector<double> expected(count, 0.0);
  for (int i = 0; i < n; ++i) {
    const size_t at = strided ? size_t(i) * k : size_t(i) + k;
    expected[at] = in[at];
  }
  char name[32];
  std::snprintf(name, sizeof name, "%s %d", strided ? "stride" : "offset", k);
  report.compare(name, to.host(), expected, {0.0});
}

}  // namespace

int main(int argc, char** argv) {
  lab::Report report;
  const bool offset = argc > 2 && !std::strcmp(argv[1], "offset"), stride = argc > 2 && !std::strcmp(argv[1], "stride");
  if (offset || stride) {
    const bool zero = offset && !std::strcmp(argv[2], "0");
    const int k = zero ? 0 : lab::size_argument(argc, argv, 2, 1, stride ? "the stride" : "the offset");
    const int n = lab::size_argument(argc, argv, 3, 262144, "the number of threads");
    std::printf("copies, n = %d\n", n);
    run(report, stride, k, n);
    return report.exit_code();
  }
  const int n = lab::size_argument(argc, argv, 1, 262144, "the number of threads");
  std::printf("copies, n = %d\n", n);
  for (int k : {0, 1, 2, 4, 8, 16, 17, 32}) run(report, false, k, n);
  for (int k : {1, 2, 4, 8, 16, 32}) run(report, true, k, n);
  return report.exit_code();
}
