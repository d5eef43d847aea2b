// Right: global memory that several blocks share, ordered by atomics, fences, the grid, or because each has its own
// part.
#include <cooperative_groups.h>

#include "cases.h"

namespace cg = cooperative_groups;

__device__ __forceinline__ int load_acquire(const int* p) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
__device__ __forceinline__ void store_release(int* p, int value) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

__global__ void trap_atomics_only(int* n) {
  atomicAdd(n, 1);
  atomicMax(n, static_cast<int>(threadIdx.x));
}
//! C123 clean
CASE(C123, "all blocks atomicAdd/atomicMax one word") {
  int* n = cases::zeros<int>(1);
  trap_atomics_only<<<4, 64>>>(n);
  cudaDeviceSynchronize();
  cudaFree(n);
}

__global__ void trap_atomic_then_next_kernel(const int* in, int* bins) {
  atomicAdd(&bins[in[blockIdx.x * blockDim.x + threadIdx.x]], 1);
}
__global__ void read_bins(const int* bins, int* out) {
  out[threadIdx.x] = bins[threadIdx.x];
}
//! C124 clean
CASE(C124, "atomicAdd slots in kernel 1, plain reads in kernel 2") {
  int *in = cases::zeros<int>(128), *bins = cases::zeros<int>(16), *out = cases::zeros<int>(16);
  trap_atomic_then_next_kernel<<<2, 64>>>(in, bins);
  read_bins<<<1, 16>>>(bins, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(bins);
  cudaFree(out);
}

// The reading thread has its own fence after the barrier; another thread took the ticket. __threadfence() is fence.sc.
// Of two such fences, the one before the earlier ticket comes first.
__global__ void trap_last_block_with_fence(const int* in, int* partial, unsigned* count, int* out) {
  __shared__ bool last;
  const int t = threadIdx.x;
  if (t == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t < gridDim.x) {
    __threadfence();
    out[t] = partial[gridDim.x - 1 - t];
  }
}
//! C125 clean
CASE(C125, "partial; __threadfence; atomicInc; last block: fence, reads") {
  int *in = cases::zeros<int>(8), *partial = cases::zeros<int>(8), *out = cases::zeros<int>(8);
  unsigned* count = cases::zeros<unsigned>(1);
  trap_last_block_with_fence<<<8, 32>>>(in, partial, count, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(partial);
  cudaFree(out);
  cudaFree(count);
}

// One thread's fence covers what the barrier gave it of the others.
__global__ void trap_barrier_then_one_fence(const int* in, int* data, int* flag, int* out) {
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = in[t];
    __syncthreads();
    if (t == 0) {
      __threadfence();
      *static_cast<volatile int*>(flag) = 1;
    }
  } else {
    if (t == 0) {
      while (*static_cast<volatile int*>(flag) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    out[t] = data[63 - t];
  }
}
//! C126 clean
CASE(C126, "all threads write; __syncthreads; thread 0: __threadfence, flag") {
  int *in = cases::zeros<int>(64), *data = cases::zeros<int>(64), *flag = cases::zeros<int>(1),
      *out = cases::zeros<int>(64);
  trap_barrier_then_one_fence<<<2, 64>>>(in, data, flag, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(data);
  cudaFree(flag);
  cudaFree(out);
}

// What cuda::atomic_ref compiles to.
__global__ void trap_release_acquire_ref(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;
    store_release(flag, 1);
  } else {
    while (load_acquire(flag) == 0) {
    }
    *out = *data;
  }
}
//! C127 clean
CASE(C127, "what cuda::atomic_ref compiles to: st.release and ld.acquire, device scope") {
  int *data = cases::zeros<int>(1), *flag = cases::zeros<int>(1), *out = cases::zeros<int>(1);
  trap_release_acquire_ref<<<2, 1>>>(data, flag, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(flag);
  cudaFree(out);
}

// Block 1 adds to what block 0 released, by a relaxed atomic; block 2 acquires the sum, and with it what block 0 wrote.
__global__ void trap_release_sequence(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;
    store_release(flag, 1);
  } else if (blockIdx.x == 1) {
    while (atomicAdd(flag, 0) == 0) {
    }
    atomicAdd(flag, 1);
  } else {
    while (load_acquire(flag) != 2) {
    }
    *out = *data;
  }
}
//! C128 clean
CASE(C128, "release store, then RMWs by others, acquire reads the last RMW") {
  int *data = cases::zeros<int>(1), *flag = cases::zeros<int>(1), *out = cases::zeros<int>(1);
  trap_release_sequence<<<3, 1>>>(data, flag, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(flag);
  cudaFree(out);
}

__global__ void trap_lock_with_fences(int* lock, int* sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *sum = *sum + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}
//! C129 clean
CASE(C129, "CAS lock with both fences, plain data") {
  int *lock = cases::zeros<int>(1), *sum = cases::zeros<int>(1);
  trap_lock_with_fences<<<8, 32>>>(lock, sum);
  cudaDeviceSynchronize();
  cudaFree(lock);
  cudaFree(sum);
}

__global__ void trap_grid_sync(const int* in, int* a, int* out) {
  const cg::grid_group grid = cg::this_grid();
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = in[i];
  grid.sync();
  out[i] = a[n - 1 - i];
  grid.sync();
  a[i] = out[n - 1 - i];
}
//! C130 clean
CASE(C130, "cooperative phases with grid.sync") {
  int *in = cases::zeros<int>(256), *a = cases::zeros<int>(256), *out = cases::zeros<int>(256);
  void* arguments[] = {&in, &a, &out};
  cudaLaunchCooperativeKernel(trap_grid_sync, 4, 64, arguments, 0, nullptr);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(a);
  cudaFree(out);
}

__global__ void trap_unique_scatter(const int* where, const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[where[i]] = in[i];
}
//! C131 clean
CASE(C131, "permutation indices") {
  int host[256], *where = cases::zeros<int>(256), *in = cases::zeros<int>(256), *out = cases::zeros<int>(256);
  for (int i = 0; i < 256; ++i) host[i] = 77 * i % 256;
  cudaMemcpy(where, host, sizeof host, cudaMemcpyHostToDevice);
  trap_unique_scatter<<<4, 64>>>(where, in, out);
  cudaDeviceSynchronize();
  cudaFree(where);
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_red_black(float* a, int n, int colour) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + colour;
  if (i > 0 && i < n - 1) a[i] = 0.5f * (a[i - 1] + a[i + 1]);
}
//! C132 clean
CASE(C132, "in place update of one colour from the other") {
  float* a = cases::zeros<float>(256);
  trap_red_black<<<2, 64>>>(a, 256, 0);
  trap_red_black<<<2, 64>>>(a, 256, 1);
  cudaDeviceSynchronize();
  cudaFree(a);
}

__global__ void trap_grid_stride_in_place(float* a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = 2 * a[i] + 1;
}
//! C133 clean
CASE(C133, "a[i]=f(a[i]) grid stride, overlapping nothing") {
  float* a = cases::zeros<float>(1000);
  trap_grid_stride_in_place<<<2, 64>>>(a, 1000);
  cudaDeviceSynchronize();
  cudaFree(a);
}

__global__ void trap_block_owned_rows(const int* in, int* scratch, int* out) {
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  int* row = scratch + 64 * blockIdx.x;
  row[t] = in[i];
  __syncthreads();
  out[i] = row[63 - t];
}
//! C134 clean
CASE(C134, "block b uses row b of a scratch array with __syncthreads") {
  int *in = cases::zeros<int>(256), *scratch = cases::zeros<int>(256), *out = cases::zeros<int>(256);
  trap_block_owned_rows<<<4, 64>>>(in, scratch, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(scratch);
  cudaFree(out);
}

__global__ void trap_same_value_flag(const int* in, int* changed) {
  if (in[blockIdx.x * blockDim.x + threadIdx.x] == 0) *changed = 1;
}
//! C135 at-most INFO race-same-value
CASE(C135, "many threads store 1 to \"changed\"") {
  int *in = cases::zeros<int>(128), *changed = cases::zeros<int>(1);
  trap_same_value_flag<<<2, 64>>>(in, changed);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(changed);
}

__global__ void trap_cta_atomics_own_block(int* counts, int* out) {
  atomicAdd_block(&counts[blockIdx.x], 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = counts[blockIdx.x];
}
//! C136 clean
CASE(C136, "atomicAdd_block on a counter used by one block") {
  int *counts = cases::zeros<int>(4), *out = cases::zeros<int>(4);
  trap_cta_atomics_own_block<<<4, 64>>>(counts, out);
  cudaDeviceSynchronize();
  cudaFree(counts);
  cudaFree(out);
}

__global__ void trap_nc_never_written(const int* __restrict__ in, int* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + __ldg(in + 127 - i);
}
//! C137 clean
CASE(C137, "const __restrict__ input, other output") {
  int *in = cases::zeros<int>(128), *out = cases::zeros<int>(128);
  trap_nc_never_written<<<2, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
