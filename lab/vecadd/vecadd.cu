// Vector addition: c = a + b, the document's first kernel. Only memory matters, so the rungs differ in who reads what.
//
//   vecadd [N]      default 1000000; any N from 1
#include "harness/harness.h"

constexpr int kThreads = 256;
constexpr int kPerThread = 4;

// Claim: neighbouring threads are 16 bytes apart, so a warp's request touches 16 sectors and uses a quarter of each.
__global__ void vecadd_chunk(const float* a, const float* b, float* c, int n) {
  const long first = (blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x) * kPerThread;
  for (long i = first; i < first + kPerThread && i < n; ++i) c[i] = a[i] + b[i];
}

// Claim: neighbouring threads take neighbouring elements, so a warp's request is 4 full sectors: nothing is wasted.
__global__ void vecadd(const float* a, const float* b, float* c, int n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Claim: managed memory changes who copies, not what the kernel does: the same counts as vecadd.
__global__ void vecadd_managed(const float* a, const float* b, float* c, int n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Claim: 16 bytes a thread ask for the same sectors with a quarter of the requests.
__global__ void vecadd_float4(const float* a, const float* b, float* c, int n) {
  const long i = (blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x) * 4;
  if (i + 3 < n) {
    const float4 x = *reinterpret_cast<const float4*>(a + i), y = *reinterpret_cast<const float4*>(b + i);
    *reinterpret_cast<float4*>(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  } else {
    for (long j = i; j < n; ++j) c[j] = a[j] + b[j];
  }
}

namespace {

using Kernel = void (*)(const float*, const float*, float*, int);

std::vector<float> run_explicit(Kernel kernel, int per_thread, const std::vector<float>& a,
                                const std::vector<float>& b) {
  lab::DeviceArray<float> da(a), db(b), dc(a.size());
  dc.poison();
  const int n = static_cast<int>(a.size());
  kernel<<<lab::blocks(n, kThreads * per_thread), kThreads>>>(da.data(), db.data(), dc.data(), n);
  CHECK_KERNEL();
  return dc.host();
}

std::vector<float> run_managed(const std::vector<float>& a, const std::vector<float>& b) {
  const int n = static_cast<int>(a.size());
  const size_t bytes = a.size() * sizeof(float);
  float *ma, *mb, *mc;
  CHECK_CUDA(cudaMallocManaged(&ma, bytes));
  CHECK_CUDA(cudaMallocManaged(&mb, bytes));
  CHECK_CUDA(cudaMallocManaged(&mc, bytes));
  std::memcpy(ma, a.data(), bytes);
  std::memcpy(mb, b.data(), bytes);
  std::memset(mc, 0xff, bytes);
  vecadd_managed<<<lab::blocks(n, kThreads), kThreads>>>(ma, mb, mc, n);
  CHECK_KERNEL();
  std::vector<float> c(mc, mc + n);
  for (float* p : {ma, mb, mc}) CHECK_CUDA(cudaFree(p));
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  const int n = lab::size_argument(argc, argv, 1, 1000000, "the number of elements");
  lab::require_memory(argv[0], 40.0 * n);
  lab::Random random(1);
  const std::vector<float> a = random.floats(n), b = random.floats(n);
  std::vector<double> sum(n);
  for (int i = 0; i < n; ++i) sum[i] = static_cast<double>(a[i]) + b[i];
  const std::vector<double> tolerance = {std::ldexp(1.0, -24)};  // one rounding of a sum below 2

  std::printf("vector addition, n = %d\n", n);
  lab::Report report;
  report.compare("chunk of 4 a thread", run_explicit(vecadd_chunk, kPerThread, a, b), sum, tolerance);
  report.compare("one a thread", run_explicit(vecadd, 1, a, b), sum, tolerance);
  report.compare("managed memory", run_managed(a, b), sum, tolerance);
  report.compare("float4 a thread", run_explicit(vecadd_float4, 4, a, b), sum, tolerance);
  return report.exit_code();
}
