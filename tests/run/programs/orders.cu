// Bugs that are hidden while blocks and warps run in the order of their numbers: `orders MODE` prints the result.
#include <cuda_runtime.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

__device__ int data, flag, lock_word, locks[2], tickets, sums[8], total, order_flags[512];

// A flag for later blocks; only block 0 may find it. No fence orders the value before the flag.
__global__ void unfenced_flag(int* out) {
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    data = 42;
    atomicExch(&flag, 1);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0 && atomicAdd(&flag, 0) == 1) {
    __threadfence();
    *out = data;
  }
}

// The last block releases the lock without a fence, as if no block came after it.
__global__ void unfenced_unlock(int* out) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&lock_word, 0, 1) != 0) {
  }
  __threadfence();
  data += 1;
  if (blockIdx.x + 1 != gridDim.x) __threadfence();
  atomicExch(&lock_word, 0);
  if (blockIdx.x == 0) *out = 0;
}

// The kernel assumes that the block with the highest number ends last.
__global__ void last_by_number(int* out) {
  if (threadIdx.x != 0) return;
  sums[blockIdx.x] = 1;
  if (blockIdx.x + 1 != gridDim.x) __threadfence();
  if (atomicAdd(&tickets, 1) + 1 != static_cast<int>(gridDim.x)) return;
  __threadfence();
  int all = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) all += sums[b];
  *out = all;
}

// Warp 0 reads the values written so far. With a barrier before it, it would read all.
__global__ void overtaken_warp(int* out) {
  __shared__ int ready, values[32];
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x >= 32) {
    values[threadIdx.x - 32] = static_cast<int>(threadIdx.x);
    if (threadIdx.x == 63) atomicExch_block(&ready, 1);
  } else {
    if (atomicAdd_block(&ready, 0) == 0) return;
    __threadfence_block();
    out[threadIdx.x] = values[threadIdx.x];
  }
}

// Two locks, taken in different orders.
__global__ void two_locks(int* out) {
  if (threadIdx.x != 0) return;
  int* const first = &locks[blockIdx.x % 2];
  int* const second = &locks[1 - blockIdx.x % 2];
  while (atomicCAS(first, 0, 1) != 0) {
  }
  while (atomicCAS(second, 0, 1) != 0) {
  }
  __threadfence();
  *out += 1;
  __threadfence();
  atomicExch(second, 0);
  atomicExch(first, 0);
}

// Each block waits for the one before it, and there are more blocks than a GPU holds.
__global__ void __launch_bounds__(1024) chain(int* out) {
  if (threadIdx.x == 0) {
    while (blockIdx.x != 0 && atomicAdd(&order_flags[blockIdx.x - 1], 0) == 0) {
    }
    __threadfence();
    *out += 1;
    __threadfence();
    atomicExch(&order_flags[blockIdx.x], 1);
  }
}

// The first block to arrive: correct in any order, and different in each.
__global__ void first_come(int* out) {
  if (threadIdx.x % 32 == 0) out[atomicAdd(&tickets, 1)] = static_cast<int>(blockIdx.x * 2 + threadIdx.x / 32);
}

// Correct, with everything that the others lack.
__global__ void all_right(int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = 1;
    __threadfence();
    last = atomicAdd(&tickets, 1) + 1 == static_cast<int>(gridDim.x);
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  __threadfence();
  int all = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) all += sums[b];
  *out = all;
  printf("the last one has added up\n");
}

// Memory shared with other processes: each launch must happen there once.
__global__ void count(int* counter) {
  atomicAdd(counter, 1);
}

static void count_in_shared_memory() {
  void* const p = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const counter = static_cast<int*>(p);
  cudaHostRegister(counter, 4096, cudaHostRegisterMapped);
  count<<<2, 32>>>(counter);
  cudaDeviceSynchronize();
  std::printf("counted %d\n", *counter);
  cudaHostUnregister(counter);
  munmap(p, 4096);
}

__global__ void waits_for_host(volatile int* go, int* out) {
  if (threadIdx.x != 0) return;
  while (*go == 0) {
  }
  atomicAdd(out, 1);
}

static void wait_for_host(int* out) {
  int* go = nullptr;
  cudaHostAlloc(&go, sizeof *go, cudaHostAllocMapped);
  *go = 0;
  waits_for_host<<<1, 32>>>(go, out);
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady) *static_cast<volatile int*>(go) = 1;
  cudaDeviceSynchronize();
  cudaFreeHost(go);
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(mode, name) == 0; };
  constexpr int kOut = 64;
  int *out = nullptr, seen[kOut];
  cudaMalloc(&out, sizeof seen);
  cudaMemset(out, 0, sizeof seen);
  if (is("flag")) unfenced_flag<<<2, 32>>>(out);
  if (is("lock")) unfenced_unlock<<<4, 32>>>(out);
  if (is("last")) last_by_number<<<8, 32>>>(out);
  if (is("warp")) overtaken_warp<<<1, 64>>>(out);
  if (is("locks")) two_locks<<<2, 32>>>(out);
  if (is("chain")) chain<<<300, 1024>>>(out);
  if (is("first")) first_come<<<8, 64>>>(out);
  if (is("right")) all_right<<<8, 64>>>(out);
  if (is("shared")) count_in_shared_memory();
  if (is("host")) wait_for_host(out);
  if (const cudaError_t error = cudaDeviceSynchronize()) std::printf("%s\n", cudaGetErrorName(error));
  if (cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost) == cudaSuccess) {
    for (int k = 0; k < (is("first") ? 16 : 1); ++k) std::printf("%d ", seen[k]);
    std::printf("\n");
  }
  cudaFree(out);
}
