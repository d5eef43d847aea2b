// Accesses to global memory that are wrong: outside, misaligned, through pointers that are none.
#include <cstdlib>

#include "cases.h"

// n threads, rounded up to whole blocks, and no guard.
__global__ void global_write_one_past_end(float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;  //! C001 ERROR oob-global-write thread=232,0,0 block=3,0,0 count=24 message~"past the end"
}
CASE(C001, "n threads rounded up to whole blocks write out[i] without the guard i<n; n is no multiple of the block") {
  float* out;
  cudaMalloc(&out, 1000 * sizeof(float));  //! C001 origin
  global_write_one_past_end<<<4, 256>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void global_read_before_start(const float* a, float* out) {
  const int i = threadIdx.x;
  out[i] = a[i - 1];  //! C002 ERROR oob-global-read thread=0,0,0 block=0,0,0 count=1 bytes=4 message~"before the begin"
}
CASE(C002, "thread i reads a[i-1]; thread 0 reads a[-1]") {
  float* a = cases::zeros<float>(64);
  float* out = cases::zeros<float>(64);
  global_read_before_start<<<1, 64>>>(a, out);
  cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(out);
}

// The rows are 32 wide, but the stride is that of another array: row 16 lies behind the first allocation. That memory
// is unallocated if the second allocation does not follow at once.
__global__ void global_far_into_neighbour(float* first, float* second, int stride) {
  const int i = threadIdx.y * stride + threadIdx.x;
  //! C003 ERROR oob-neighbour access=write message~argument
  //! C003 may ERROR oob-global-write
  first[i] = 1;
  second[threadIdx.y * 32 + threadIdx.x] = 2;
}
CASE(C003, "two equal allocations; index computed with the wrong stride lands in the second one") {
  float *first, *second;
  cudaMalloc(&first, 32 * 32 * sizeof(float));  //! C003 origin
  cudaMalloc(&second, 32 * 32 * sizeof(float));
  global_far_into_neighbour<<<1, dim3(32, 32)>>>(first, second, 64);
  cudaDeviceSynchronize();
  cudaFree(first);
  cudaFree(second);
}

struct Point {
  float x, y, z;
};
// 40 points fit, and of the next one x and y.
__global__ void struct_last_field_past_end(const Point* in, Point* out) {
  const int i = threadIdx.x;
  out[i] = in[i];  //! C004 ERROR oob-global-read thread=40,0,0 block=0,0,0 bytes=4 count=1
}
CASE(C004, "array of 12-byte structs allocated with n*8 bytes; only the third field of the last ones is outside") {
  constexpr int kPoints = 61;
  Point* in;
  cudaMalloc(&in, kPoints * 8);  //! C004 origin
  cudaMemset(in, 0, kPoints * 8);
  Point* out = cases::zeros<Point>(41);
  struct_last_field_past_end<<<1, 41>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void vector_load_half_outside(const float2* in, float* out) {
  const float2 v = in[threadIdx.x];  //! C005 ERROR oob-global-read thread=31,0,0 block=0,0,0 bytes=8 count=1
  out[threadIdx.x] = v.x + v.y;
}
CASE(C005, "float2 load at the last float of the allocation, aligned") {
  float* in;
  cudaMalloc(&in, 63 * sizeof(float));  //! C005 origin
  cudaMemset(in, 0, 63 * sizeof(float));
  float* out = cases::zeros<float>(32);
  vector_load_half_outside<<<1, 32>>>(reinterpret_cast<const float2*>(in), out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void misaligned_double(const int* in, double* out) {
  //! C006 ERROR misaligned thread=0,0,0 block=0,0,0 access=read bytes=8 count=1
  out[0] = *reinterpret_cast<const double*>(in + 1);
}
CASE(C006, "double read at base+4 of an int buffer") {
  int* in = cases::zeros<int>(16);
  double* out = cases::zeros<double>(1);
  misaligned_double<<<1, 1>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void null_argument(int* out) {
  out[threadIdx.x] = 1;  //! C008 ERROR null-pointer thread=0,0,0 block=0,0,0 access=write
}
CASE(C008, "cudaMalloc failed (size far too large), pointer stays null, kernel writes") {
  int* out = nullptr;
  //! C008 ERROR api-error message~cudaErrorMemoryAllocation
  //! C008 cause of=null-pointer
  cudaMalloc(&out, size_t{1} << 60);
  null_argument<<<1, 32>>>(out);
  cudaDeviceSynchronize();
}

__global__ void host_heap_pointer(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  //! C009 ERROR host-pointer thread=0,0,0 block=0,0,0 access=read
}
CASE(C009, "pointer from malloc() passed to a kernel") {
  int* in = static_cast<int*>(std::calloc(32, sizeof(int)));
  int* out = cases::zeros<int>(32);
  host_heap_pointer<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(out);
  std::free(in);
}

__global__ void read_past_end_into_fresh_memory(const float* in, float* out, int n) {
  const int i = threadIdx.x;
  out[i] = in[i + n];  //! C206 ERROR oob-neighbour thread=0,0,0 access=read
}
CASE(C206, "index off by a row reads unwritten memory behind the allocation; the result is copied to the host") {
  float host[256], *in = cases::zeros<float>(256), *fresh, *out = cases::zeros<float>(256);
  cudaMalloc(&fresh, 256 * sizeof(float));
  const int distance = static_cast<int>(fresh - in);
  read_past_end_into_fresh_memory<<<1, 256>>>(in, out, distance);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(fresh);
  cudaFree(out);
}
