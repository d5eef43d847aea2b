// A kernel that calls malloc(), for backwards_test.py.
#include <cstdio>
#include <cstdlib>

__global__ void allocates(int* data) {
  int* own = static_cast<int*>(malloc(16));
  own[0] = threadIdx.x + 1;
  data[threadIdx.x] = own[0];
  free(own);
}

int main() {
  int* data = nullptr;
  cudaMalloc(&data, 32 * sizeof(int));
  allocates<<<1, 32>>>(data);
  int last = 0;
  cudaMemcpy(&last, data + 31, sizeof last, cudaMemcpyDeviceToHost);
  printf("%d\n", last);
  return 0;
}
