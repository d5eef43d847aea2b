// Kernels that call malloc(): within one launch, and memory that lives on to the next one.
#include <cstdio>
#include <cstdlib>

__global__ void allocates(int* data) {
  int* own = static_cast<int*>(malloc(16));
  own[0] = threadIdx.x + 1;
  data[threadIdx.x] = own[0];
  free(own);
}

__device__ int* kept;

// *kept counts the launches, each in a new piece.
__global__ void keeps(int* data) {
  if (threadIdx.x == 0) {
    int* old = kept;
    int* made = static_cast<int*>(malloc(16));
    *made = old == nullptr ? 1 : *old + 1;
    kept = made;
    free(old);
  }
  __syncthreads();
  data[threadIdx.x] = 100 * *kept;
}

int main() {
  int* data = nullptr;
  cudaMalloc(&data, 32 * sizeof(int));
  allocates<<<1, 32>>>(data);
  int last = 0;
  cudaMemcpy(&last, data + 31, sizeof last, cudaMemcpyDeviceToHost);
  for (int k = 0; k < 4; ++k) keeps<<<1, 32>>>(data);
  int count = 0;
  cudaMemcpy(&count, data + 31, sizeof count, cudaMemcpyDeviceToHost);
  printf("%d %d\n", last, count);
  return last == 32 && count == 400 ? 0 : 1;
}
