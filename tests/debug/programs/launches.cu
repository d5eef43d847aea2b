// Launches that overwrite each other's results, with copies of the host in between. launches WHAT; exit code 0: all is right.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__constant__ int factor;
__device__ int calls;

__global__ void fill(int* data, int n, int start) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = start + i;
  if (i < n) data[i] = value;
  if (i == 0) calls += 1;
}

__global__ void scale(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int old = i < n ? data[i] : 0;
  if (i < n) data[i] = old * factor;
  if (i == 0) calls += 10;
}

__global__ void increase(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int old = i < n ? data[i] : 0;
  if (i < n) data[i] = old + 1;
  if (i == 0) calls += 100;
}

void set_factor(int value) {
  cudaMemcpyToSymbol(factor, &value, sizeof value);
}

int total_calls() {
  int out = 0;
  cudaMemcpyFromSymbol(&out, calls, sizeof out);
  return out;
}

// n values: fill from 1000 on, values 0 to 3 from the host, times 3, plus 1.
int three(int n) {
  int* data = nullptr;
  cudaMalloc(&data, n * sizeof(int));
  int blocks = (n + 63) / 64;
  fill<<<blocks, 64>>>(data, n, 1000);
  int ours[4] = {7, 8, 9, 10};
  cudaMemcpy(data, ours, sizeof ours, cudaMemcpyHostToDevice);
  set_factor(3);
  scale<<<blocks, 64>>>(data, n);
  set_factor(5);
  increase<<<blocks, 64>>>(data, n);
  std::vector<int> out(n);
  cudaMemcpy(out.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += out[i] != (i < 4 ? ours[i] : 1000 + i) * 3 + 1;
  int made = total_calls();
  std::printf("%d wrong, first %d, calls %d\n", wrong, out[0], made);
  cudaFree(data);
  return wrong == 0 && made == 111 ? 0 : 1;
}

// Memory is freed between the launches.
int frees() {
  int *data = nullptr, *more = nullptr;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMalloc(&more, 64 * sizeof(int));
  fill<<<1, 64>>>(more, 64, 1);
  cudaFree(more);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  fill<<<1, 64, 0, stream>>>(data, 64, 2);
  increase<<<1, 64>>>(data, 64);
  cudaDeviceSynchronize();
  std::printf("calls %d\n", total_calls());
  return total_calls() == 102 ? 0 : 1;
}

__global__ void says(int* data) {
  int old = data[threadIdx.x];
  data[threadIdx.x] = old + 5;
  if (threadIdx.x == 0) printf("the value was %d\n", old);
}

// Managed memory, which the host writes without a call; a kernel that prints.
int managed() {
  int* data = nullptr;
  cudaMallocManaged(&data, 64 * sizeof(int));
  for (int k = 0; k < 3; ++k) {
    data[0] = 100 * k;
    says<<<1, 64>>>(data);
    cudaDeviceSynchronize();
  }
  std::printf("%d %d\n", data[0], data[1]);
  return data[0] == 205 && data[1] == 15 ? 0 : 1;
}

__global__ void beyond(int* data, int n) {
  int i = threadIdx.x;
  data[i == 7 ? n : i] = 1;
}

int faults() {
  int* data = nullptr;
  cudaMalloc(&data, 64 * sizeof(int));
  fill<<<1, 64>>>(data, 64, 1000);
  beyond<<<1, 64>>>(data, 1 << 20);
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 1;
}

__global__ void sums(const int* data, int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  int value = tile[63 - threadIdx.x];
  out[threadIdx.x] = value;
}

// The first launch reads what was never written.
int undefined() {
  int *data = nullptr, *out = nullptr;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  sums<<<1, 64>>>(data, out);
  fill<<<1, 64>>>(data, 64, 1000);
  sums<<<1, 64>>>(data, out);
  int last = 0;
  cudaMemcpy(&last, out + 63, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%d\n", last);
  return last == 1000 ? 0 : 1;
}

int many(int count) {
  int* data = nullptr;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMemset(data, 0, 64 * sizeof(int));
  for (int k = 0; k < count; ++k) increase<<<1, 64>>>(data, 64);
  int out = 0;
  cudaMemcpy(&out, data, sizeof out, cudaMemcpyDeviceToHost);
  std::printf("%d\n", out);
  return out == count ? 0 : 1;
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "small";
  if (!std::strcmp(what, "small")) return three(256);
  if (!std::strcmp(what, "large")) return three(1 << 20);
  if (!std::strcmp(what, "frees")) return frees();
  if (!std::strcmp(what, "managed")) return managed();
  if (!std::strcmp(what, "faults")) return faults();
  if (!std::strcmp(what, "undefined")) return undefined();
  return many(std::atoi(what));
}
