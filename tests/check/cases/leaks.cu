// What is not released, and what only looks so.
#include "cases.h"

CASE(C024, "three cudaMalloc, one cudaFree, return from main") {  // leak_two_buffers
  int *a, *b, *c;
  cudaMalloc(&a, 1024);  //! C024 WARNING leak-device
  cudaMalloc(&b, 2048);
  cudaMalloc(&c, 4096);  //! C024 WARNING leak-device#2
  cudaFree(b);
}

CASE(C025, "one each of array, pinned, managed, pool memory, event, stream not released") {  // leak_kinds
  cudaArray_t array;
  void *pinned, *managed, *pooled;
  cudaEvent_t event;
  cudaStream_t stream;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &format, 16, 16);  //! C025 WARNING leak-array
  cudaMallocHost(&pinned, 4096);             //! C025 WARNING leak-pinned
  cudaMallocManaged(&managed, 4096);         //! C025 WARNING leak-managed
  cudaMallocAsync(&pooled, 4096, nullptr);   //! C025 WARNING leak-pool
  cudaEventCreate(&event);                   //! C025 INFO leak-event
  cudaStreamCreate(&stream);                 //! C025 INFO leak-stream
  cudaDeviceSynchronize();
}

//! C164 at-most INFO leak-device
CASE(C164, "cudaDeviceReset() with memory that was not freed") {  // trap_exit_without_free_reset
  int* data;
  cudaMalloc(&data, 1024);
  cudaDeviceReset();
}

struct Buffer {
  Buffer() { cudaMalloc(&data, 1024); }
  ~Buffer() { cudaFree(data); }
  int* data = nullptr;
};
//! C165 clean
CASE(C165, "allocation held by a static object, freed in its destructor at exit") {  // trap_static_singleton
  static Buffer buffer;
  cudaMemset(buffer.data, 0, 1024);
}
