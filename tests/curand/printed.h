// Output of the programs in this folder: lines "name parameters: bits of the results ...".
#pragma once

#include <cstdio>

struct Writer {
  unsigned long long* values;
  int count;
  __device__ void put(unsigned x) { values[count++] = x; }
  __device__ void put(unsigned long long x) { values[count++] = x; }
  __device__ void put(float x) { put(__float_as_uint(x)); }
  __device__ void put(double x) { values[count++] = static_cast<unsigned long long>(__double_as_longlong(x)); }
  __device__ void put(float2 v) { put(v.x), put(v.y); }
  __device__ void put(double2 v) { put(v.x), put(v.y); }
  __device__ void put(float4 v) { put(v.x), put(v.y), put(v.z), put(v.w); }
  __device__ void put(uint4 v) { put(v.x), put(v.y), put(v.z), put(v.w); }
};

inline void complain(const char* name) {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::printf("%s: %s\n", name, cudaGetErrorString(error));
}
