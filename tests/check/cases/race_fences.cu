// Flags, locks and their fences, between blocks and with the host: what is missing, or of too narrow a scope.
#include "cases.h"

__global__ void flag_volatile_no_fence(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;  //! C058 ERROR race-global block=0,0,0 access=write message~__threadfence message~"read after write"
    *static_cast<volatile int*>(flag) = 1;
  } else {
    while (*static_cast<volatile int*>(flag) == 0) {
    }
    *out = *data;  //! C058 ERROR race-global block=1,0,0 access=read
  }
}
CASE(C058, "block 0: data=1; flag(volatile)=1. Block 1 polls flag, reads data") {
  int *data = cases::zeros<int>(1), *flag = cases::zeros<int>(1), *out = cases::zeros<int>(1);
  flag_volatile_no_fence<<<2, 1>>>(data, flag, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(flag);
  cudaFree(out);
}

__global__ void flag_fence_block_scope(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;  //! C059 ERROR race-scope block=0,0,0 access=write
    __threadfence_block();
    *static_cast<volatile int*>(flag) = 1;
  } else {
    while (*static_cast<volatile int*>(flag) == 0) {
    }
    __threadfence();
    *out = *data;  //! C059 ERROR race-scope block=1,0,0 access=read
  }
}
CASE(C059, "as before with __threadfence_block on the producer side") {
  int *data = cases::zeros<int>(1), *flag = cases::zeros<int>(1), *out = cases::zeros<int>(1);
  flag_fence_block_scope<<<2, 1>>>(data, flag, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(flag);
  cudaFree(out);
}

__global__ void flag_no_acquire_fence(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;  //! C060 ERROR|WARNING race-global block=0,0,0 access=write message~"read after write"
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    *out = *data;  //! C060 ERROR|WARNING race-global block=1,0,0 access=read
  }
}
CASE(C060, "producer has __threadfence; consumer polls an atomic and reads plain data with no fence") {
  int *data = cases::zeros<int>(1), *flag = cases::zeros<int>(1), *out = cases::zeros<int>(1);
  flag_no_acquire_fence<<<2, 1>>>(data, flag, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(flag);
  cudaFree(out);
}

__global__ void lock_cas_no_fences(int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *sum = *sum + 1;  //! C061 ERROR race-global
  atomicExch(lock, 0);
}
CASE(C061, "atomicCAS lock, plain update, atomicExch unlock, no fences") {
  int *lock = cases::zeros<int>(1), *sum = cases::zeros<int>(1);
  lock_cas_no_fences<<<4, 1>>>(lock, sum);
  cudaDeviceSynchronize();
  cudaFree(lock);
  cudaFree(sum);
}

__global__ void lock_block_scope_cas(int* lock, int* sum) {
  while (atomicCAS_block(lock, 0, 1) != 0) {  //! C062 ERROR race-scope some
  }
  __threadfence();
  *sum = *sum + 1;  //! C062 ERROR race-global
  __threadfence();
  atomicExch_block(lock, 0);  //! C062 ERROR race-scope some
}
CASE(C062, "lock taken with atomicCAS_block by several blocks") {
  int *lock = cases::zeros<int>(1), *sum = cases::zeros<int>(1);
  lock_block_scope_cas<<<4, 1>>>(lock, sum);
  cudaDeviceSynchronize();
  cudaFree(lock);
  cudaFree(sum);
}

// The poll has a limit: the flag may never come if the grid runs only while the host waits for it.
__global__ void system_flag_gpu_scope(int* data, volatile int* flag) {
  *data = 1;  //! C065 ERROR race-scope access=write message~__threadfence_system
  __threadfence();
  *flag = 1;
}
CASE(C065, "kernel publishes to the host with __threadfence (gpu scope) through mapped memory while the host polls") {
  int* host;
  cudaHostAlloc(&host, 2 * sizeof(int), cudaHostAllocMapped);
  host[0] = host[1] = 0;
  int* device;
  cudaHostGetDevicePointer(&device, host, 0);
  system_flag_gpu_scope<<<1, 1>>>(device, device + 1);
  const volatile int* flag = host + 1;
  for (long polls = 0; *flag == 0 && polls < 1L << 28; ++polls) {
  }
  const int seen = *static_cast<volatile int*>(host);  //! C065 any
  std::printf("%d\n", seen);
  cudaDeviceSynchronize();
  cudaFreeHost(host);
}
