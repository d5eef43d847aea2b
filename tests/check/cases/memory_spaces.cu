// Accesses to shared, local and constant memory that are wrong.
#include "cases.h"

// `from` is odd, known only at run time: the compiler may believe the alignment of a float4.
__global__ void misaligned_shared_vector(float* out, int from) {
  __shared__ alignas(16) float s[160];
  s[threadIdx.x] = s[threadIdx.x + 32] = s[threadIdx.x + 64] = s[threadIdx.x + 96] = s[threadIdx.x + 128] = 0;
  __syncthreads();
  //! C007 ERROR misaligned thread=0,0,0 block=0,0,0 access=write bytes=16
  *reinterpret_cast<float4*>(s + 4 * threadIdx.x + from) = make_float4(1, 2, 3, 4);
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
CASE(C007, "float4 store to a shared float array at an odd index") {
  float* out = cases::zeros<float>(32);
  misaligned_shared_vector<<<1, 32>>>(out, 1);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void shared_static_past_end(const float* in, float* out) {
  __shared__ float s[64];
  s[threadIdx.x] = in[threadIdx.x];  //! C010 ERROR oob-shared-write thread=64,0,0 block=0,0,0 count=32 object~s
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(C010, "static shared array of 64 floats, thread 64 of 96 writes") {
  float* in = cases::zeros<float>(96);
  float* out = cases::zeros<float>(64);
  shared_static_past_end<<<1, 96>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void shared_before_start(float* out, int by) {
  __shared__ float s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  //! C222 ERROR oob-shared-read thread=0,0,0 block=0,0,0 count=1 object~s message~"4 bytes before the beginning"
  out[threadIdx.x] = s[static_cast<int>(threadIdx.x) - by];
}
CASE(C222, "shared array of 64 floats, thread i reads s[i-1]") {
  float* out = cases::zeros<float>(64);
  shared_before_start<<<1, 64>>>(out, 1);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// Whatever lies behind `middle`, first or last, is another array or the end of the block's memory.
__global__ void shared_neighbour_array(float* out, int far) {
  __shared__ float first[64], middle[64], last[64];
  const int t = threadIdx.x;
  first[t] = 1;
  last[t] = 3;
  __syncthreads();
  middle[t + far] = 2;  //! C011 ERROR oob-shared-write thread=0,0,0 block=0,0,0 count=64 object~middle
  middle[t] = 2;
  __syncthreads();
  out[t] = first[63 - t] + middle[63 - t] + last[63 - t];
}
CASE(C011, "two static shared arrays; index of the first runs into the second") {
  float* out = cases::zeros<float>(64);
  shared_neighbour_array<<<1, 64>>>(out, 64);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void dynamic_shared_zero(float* out) {
  extern __shared__ float tile[];
  //! C012 ERROR oob-shared-write thread=0,0,0 block=0,0,0 count=32 message~dynamic
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = 1;
}
CASE(C012, "extern shared array used, third launch parameter forgotten") {
  float* out = cases::zeros<float>(32);
  dynamic_shared_zero<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void local_array_index(const int* index, int* out) {
  int a[10];
  for (int i = 0; i < 10; ++i) a[i] = i;
  a[index[threadIdx.x]] = 7;  //! C013 ERROR oob-local-write thread=10,0,0 block=0,0,0 count=1 bytes=4
  out[threadIdx.x] = a[index[10 - threadIdx.x] % 10];
}
CASE(C013, "local int a[10], index from data reaches 10") {
  int host[11];
  for (int i = 0; i < 11; ++i) host[i] = i;
  int* index = cases::zeros<int>(11);
  int* out = cases::zeros<int>(11);
  cudaMemcpy(index, host, sizeof host, cudaMemcpyHostToDevice);
  local_array_index<<<1, 11>>>(index, out);
  cudaDeviceSynchronize();
  cudaFree(index);
  cudaFree(out);
}

__constant__ float coefficients[27];
__global__ void constant_array_index(float* out) {
  out[threadIdx.x] = coefficients[threadIdx.x];  //! C014 ERROR oob-constant-read thread=27,0,0 block=0,0,0 count=5
}
CASE(C014, "__constant__ float k[27] read at 27..31") {
  const float host[27] = {1, 2, 3};
  float* out = cases::zeros<float>(32);
  cudaMemcpyToSymbol(coefficients, host, sizeof host);
  constant_array_index<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__constant__ float table[32];
// The asm statement hides from the compiler that the memory is constant.
__global__ void write_to_constant(float* out) {
  const float* hidden;
  asm volatile("mov.u64 %0, %1;" : "=l"(hidden) : "l"(static_cast<const float*>(table)));
  const_cast<float*>(hidden)[threadIdx.x] = 1;  //! C015 ERROR write-to-constant thread=0,0,0 block=0,0,0 access=write
  out[threadIdx.x] = table[31 - threadIdx.x];
}
CASE(C015, "const cast of the address of a __constant__ variable, stored through") {
  const float host[32] = {};
  float* out = cases::zeros<float>(32);
  cudaMemcpyToSymbol(table, host, sizeof host);
  write_to_constant<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
