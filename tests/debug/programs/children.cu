// A kernel that launches two others. Needs -rdc=true and cudadevrt.
#include <cstdio>

__global__ void child(int* data, int add) {
  int i = threadIdx.x;
  data[i] += add;
}

__global__ void parent(int* data) {
  int i = threadIdx.x;
  data[i] = i;
  __syncthreads();
  if (i == 0) {
    child<<<1, 32>>>(data, 1);
    child<<<1, 32>>>(data, 10);
  }
}

int main() {
  int* data = nullptr;
  cudaMalloc(&data, 32 * sizeof(int));
  parent<<<1, 32>>>(data);
  int out[32] = {};
  cudaMemcpy(out, data, sizeof out, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", out[0], out[31]);
  return out[0] == 11 && out[31] == 42 ? 0 : 1;
}
