"""Sources that the tests run."""

COPY = """#include <cstdio>
__global__ void copy(const float* from, float* to, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i * stride];
}
int main(int argc, char** argv) {
  float *from, *to;
  cudaMalloc(&from, 4096 * sizeof(float) * 8);
  cudaMalloc(&to, 4096 * sizeof(float));
  cudaMemset(from, 0, 4096 * sizeof(float) * 8);
  copy<<<16, 256>>>(from, to, argc > 1 ? 8 : 1);
  cudaDeviceSynchronize();
  printf("done with %d argument%s\\n", argc - 1, argc == 2 ? "" : "s");
  cudaFree(from);
  cudaFree(to);
}
"""

OUTSIDE = """__global__ void fill(int* p) {
  p[threadIdx.x] = 1;
}
int main() {
  int* p;
  cudaMalloc(&p, 64);
  fill<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  return 3;
}
"""

WRONG = """#include <cstdio>
__global__ void k(int* p) {
  *p = no_such_name;
}
int main() { return 0; }
"""

WAITS = """#include <cstdio>
#include <unistd.h>
__global__ void k() {}
int main() {
  k<<<1, 1>>>();
  cudaDeviceSynchronize();
  printf("waits\\n");
  for (;;) sleep(1);
}
"""
