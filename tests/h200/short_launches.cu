// Launches that take 1.4 to 3 us: what a launch takes before its first instruction, for its first access to memory, and
// to distribute its blocks. compare_short_launches.py holds the time model against an H200.
#include "cases.h"

namespace {

__global__ void k_empty() {}
__global__ void k_arguments(const int*, int*, int) {}
__global__ void k_no_access(const int* in, int* out, int n) {
  if (n < 0) out[threadIdx.x] = in[threadIdx.x];
}
__global__ void k_store(const int*, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = i;
}
__global__ void k_load(const int* in, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n && in[i] == 5) out[i] = i;
}
__global__ void k_copy(const int* in, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = in[i];
}
__global__ void k_update(const int*, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] += 1;
}
template <int Loads>
__device__ void chain(const int* in, int* out, int n) {
  int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), at = i;
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < Loads; ++k) at = in[at];
  out[i] = at;
}
__global__ void k_two_loads(const int* in, int* out, int n) {
  chain<2>(in, out, n);
}
__global__ void k_four_loads(const int* in, int* out, int n) {
  chain<4>(in, out, n);
}
__global__ void k_eight_loads(const int* in, int* out, int n) {
  chain<8>(in, out, n);
}
__global__ void k_shared(const int*, int* out, int n) {
  __shared__ int tile[256];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  tile[threadIdx.x] = i;
  __syncthreads();
  if (i < n) out[i] = tile[threadIdx.x ^ 1];
}
__global__ void k_reduction(const int*, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) atomicAdd(out + i, 1);
}

}  // namespace

// short_launches [REPEATS]: each case so often (default 5), in the order of the kernels above.
int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 5;
  constexpr std::size_t kBytes = 4 << 20;
  int *in, *out;
  CHECK(cudaMalloc(&in, kBytes));
  CHECK(cudaMalloc(&out, kBytes));
  CHECK(cudaMemset(in, 0, kBytes));
  CHECK(cudaMemset(out, 0, kBytes));
  using Kernel = void (*)(const int*, int*, int);
  const Kernel kernels[] = {k_arguments, k_no_access,  k_store,       k_load,   k_copy,     k_update,
                            k_two_loads, k_four_loads, k_eight_loads, k_shared, k_reduction};
  for (const int blocks : {1, 16, 132, 1056})
    for (const int threads : {32, 256}) {
      for (int r = 0; r < repeats; ++r) k_empty<<<blocks, threads>>>();
      for (const Kernel kernel : kernels)
        for (int r = 0; r < repeats; ++r) kernel<<<blocks, threads>>>(in, out, blocks * threads);
      CHECK(cudaDeviceSynchronize());
    }
  return 0;
}
