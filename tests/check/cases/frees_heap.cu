// Memory that is used or freed when it is no longer, or never was, what it is taken for; the heap of the device.
#include "cases.h"

__global__ void use_after_free_immediate(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  //! C016 ERROR use-after-free thread=0,0,0 block=0,0,0 access=read
}
CASE(C016, "cudaFree(p); kernel(p)") {
  int *in, *out = cases::zeros<int>(32);
  cudaMalloc(&in, 32 * sizeof(int));  //! C016 origin
  cudaMemset(in, 0, 32 * sizeof(int));
  cudaFree(in);  //! C016 cause
  use_after_free_immediate<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void use_after_free_reused(int* out) {
  out[threadIdx.x] = 1;  //! C017 ERROR use-after-free thread=0,0,0 block=0,0,0 access=write
}
CASE(C017, "cudaFree(p); q=cudaMalloc(same size); kernel(p) writes") {
  int *before, *after;
  cudaMalloc(&before, 32 * sizeof(int));  //! C017 origin
  cudaFree(before);                       //! C017 cause
  cudaMalloc(&after, 32 * sizeof(int));
  use_after_free_reused<<<1, 32>>>(before);
  cudaDeviceSynchronize();
  cudaFree(after);
}

CASE(C018, "cudaFree(p) twice, result ignored") {  // free_twice
  int* data;
  cudaMalloc(&data, 32 * sizeof(int));  //! C018 origin
  cudaFree(data);                       //! C018 cause
  cudaFree(data);                       //! C018 ERROR double-free
}

CASE(C019, "cudaFree(p+16)") {  // free_inner_pointer
  int* data;
  cudaMalloc(&data, 32 * sizeof(int));  //! C019 origin
  cudaFree(data + 16);                  //! C019 ERROR invalid-free message~64
  cudaFree(data);
}

CASE(C020, "cudaFreeHost on device memory") {  // free_with_wrong_function
  int* data;
  cudaMalloc(&data, 32 * sizeof(int));  //! C020 origin
  cudaFreeHost(data);                   //! C020 ERROR invalid-free message~cudaMalloc
  cudaFree(data);
}

__global__ void device_heap_double_free(int* out) {
  __shared__ int* block;
  if (threadIdx.x == 0) block = static_cast<int*>(malloc(64));  //! C021 origin
  __syncthreads();
  if (threadIdx.x == 0) out[0] = block != nullptr;
  free(block);  //! C021 ERROR double-free thread=0,0,0 block=0,0,0 //! C021 ERROR double-free thread=1,0,0
}
CASE(C021, "two threads free the same malloc() block") {
  int* out = cases::zeros<int>(1);
  device_heap_double_free<<<1, 2>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void device_heap_overflow(int* out, int n) {
  int* block = static_cast<int*>(malloc(16));                            //! C022 origin
  for (int i = 0; i < n; ++i) static_cast<volatile int*>(block)[i] = i;  //! C022 ERROR oob-global-write count=1 bytes=4
  out[0] = block[0];
  free(block);
}
CASE(C022, "malloc(16) in a kernel, write at 16") {
  int* out = cases::zeros<int>(1);
  device_heap_overflow<<<1, 1>>>(out, 5);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void device_malloc_unchecked() {
  volatile int* block = static_cast<int*>(malloc(64 << 10));  //! C023 cause
  block[threadIdx.x] = 1;                                     //! C023 ERROR null-pointer access=write
  free(const_cast<int*>(block));
}
CASE(C023, "heap of 1 MiB, each thread asks 64 KiB, result not tested") {
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);
  device_malloc_unchecked<<<1, 256>>>();
  cudaDeviceSynchronize();
}
