// wmma.load, wmma.store and wmma.mma in each shape, type, layout and space: a kernel of its own, for the counters of
// Nsight Compute (lab/results/h200/wmma.csv).
//   wmma [PART]     kernels whose name contains PART
// Each case is launched with two strides and printed in the order of the launches: NAME STRIDE.
#include <cstdio>
#include <cstring>

#include "wmma_kernels.cuh"

#define CHECK(call)                                                                                    \
  do {                                                                                                 \
    const cudaError_t error = call;                                                                    \
    if (error != cudaSuccess) return fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)), 1; \
  } while (0)

int main(int argc, char** argv) {
  constexpr int kBlocks = 4, kBytes = 1 << 16;
  void *from, *to;
  CHECK(cudaMalloc(&from, kBytes));
  CHECK(cudaMalloc(&to, kBytes));
  CHECK(cudaMemset(from, 0, kBytes));
  CHECK(cudaMemset(to, 0, kBytes));
  for (const Case& c : kCases) {
    if (argc > 1 && !strstr(c.name, argv[1])) continue;
    for (const int stride : {c.unit > 64 ? c.unit : 64, c.unit == 16 ? 48 : c.unit > 64 ? 2 * c.unit : 32}) {
      c.kernel<<<kBlocks, 32>>>(from, stride, to);
      CHECK(cudaDeviceSynchronize());
      printf("%s %d\n", c.name, stride);
    }
  }
}
