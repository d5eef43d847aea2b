// Kernels with one bug each. Prints the CUDA error afterwards and ends with exit code 7, or 0 if there was none.
//   faults KIND
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void past_the_end(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i + n] = i;  // line of the write past the end
}
__global__ void null_pointer(int* data) {
  data[threadIdx.x] += 1;
}
__global__ void wild_pointer(unsigned long long address) {
  *reinterpret_cast<volatile int*>(address) = 1;
}
__global__ void misaligned(char* data) {
  *reinterpret_cast<int*>(data + 4 * threadIdx.x + 1) = 1;
}
__global__ void failing_assert(const int* data) {
  assert(data[threadIdx.x] == 12345);
}
__global__ void trap() {
  if (threadIdx.x == 5) asm volatile("trap;");
}
__global__ void endless(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void deadlock() {  // each half of the block waits for the other at its own barrier
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 64;");
  else
    asm volatile("bar.sync 2, 64;");
}
__global__ void shared_past_the_end(int* out, int far) {
  __shared__ int data[32];
  data[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = data[(threadIdx.x + far) * far];
}
__device__ __noinline__ int recurse(int depth, int* out) {
  int frame[64];
  for (int i = 0; i < 64; ++i) frame[i] = depth + i;
  out[0] = frame[depth % 64];
  return depth < 0 ? 0 : recurse(depth + 1, out) + frame[(depth + 1) % 64];
}
__global__ void endless_recursion(int* out) {
  out[threadIdx.x] = recurse(1, out);
}
__global__ void absent_lane(int* data) {  // no fault: the upper half is absent, and a GPU returns some value
  if (threadIdx.x < 16) data[threadIdx.x] = __shfl_sync(0xffff, static_cast<int>(threadIdx.x), threadIdx.x + 16);
}
__global__ void fine(int* data) {
  data[threadIdx.x] = 1;
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return !std::strcmp(kind, name); };
  int* data;
  cudaMalloc(&data, 4096);
  cudaMemset(data, 0, 4096);
  if (is("past_the_end")) past_the_end<<<2, 64>>>(data, 1024);
  if (is("null_pointer")) null_pointer<<<1, 32>>>(nullptr);
  if (is("wild_pointer")) wild_pointer<<<1, 1>>>(reinterpret_cast<unsigned long long>(&data));
  if (is("misaligned")) misaligned<<<1, 32>>>(reinterpret_cast<char*>(data));
  if (is("assert")) failing_assert<<<1, 32>>>(data);
  if (is("trap")) trap<<<1, 32>>>();
  if (is("endless")) endless<<<1, 32>>>(data);
  if (is("deadlock")) deadlock<<<1, 64>>>();
  if (is("shared")) shared_past_the_end<<<1, 32>>>(data, 1 << 20);
  if (is("recursion")) endless_recursion<<<1, 32>>>(data);
  if (is("too_many_threads")) fine<<<1, 2048>>>(data);
  if (is("absent_lane")) absent_lane<<<1, 32>>>(data);
  if (is("none")) fine<<<1, 32>>>(data);
  const cudaError_t launch = cudaGetLastError(), run = cudaDeviceSynchronize();
  std::printf("launch: %s, run: %s\n", cudaGetErrorName(launch), cudaGetErrorName(run));
  const cudaError_t after = cudaMemset(data, 0, 4096);
  std::printf("afterwards: %s\n", cudaGetErrorName(after));
  return launch == cudaSuccess && run == cudaSuccess ? 0 : 7;
}
