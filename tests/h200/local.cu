// Microbenchmarks of arrays in local memory: 128 threads a block write all words of an array and read them again, once
// or four times. lab/results/h200/local.csv has the times and counters of an H200, in the order of the launches.
#include <cuda_runtime.h>

#include "cases.h"

namespace {

template <int Words>
__global__ void k_local(float* out, int n, int rounds) {
  float a[Words];
  float s = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    for (int k = 0; k < n; ++k) a[(k * 7 + n) % Words] = s + k;
    for (int k = 0; k < n; ++k) s += a[(k * 3 + r) % Words];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

template <int Words>
void measure(float* out) {
  for (const int blocks : {132, 528, 1056})
    for (const int rounds : {1, 4}) {
      k_local<Words><<<blocks, 128>>>(out, Words, rounds);
      CHECK(cudaGetLastError());
      std::printf("%d words %d blocks %d rounds\n", Words, blocks, rounds);
    }
  CHECK(cudaDeviceSynchronize());
}

}  // namespace

int main() {
  float* out = nullptr;
  CHECK(cudaMalloc(&out, 1 << 20));
  measure<16>(out);
  measure<64>(out);
  measure<128>(out);
  measure<256>(out);
  measure<512>(out);
  measure<2048>(out);
}
