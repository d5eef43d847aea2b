// Right: shared memory that is ordered, though not always by __syncthreads() between the two accesses.
#include <cooperative_groups.h>

#include "cases.h"

namespace cg = cooperative_groups;

// A turn's reads are a barrier before the writes of the next turn but one, which are the first to the same buffer.
__global__ void trap_double_buffer_one_barrier(const int* in, int* out) {
  __shared__ int s[2][64];
  const int t = threadIdx.x;
  int sum = 0;
  for (int turn = 0; turn < 6; ++turn) {
    s[turn % 2][t] = in[64 * turn + t];
    __syncthreads();
    sum += s[turn % 2][63 - t];
  }
  out[t] = sum;
}
//! C111 clean
CASE(C111, "two buffers, one barrier a turn") {
  int *in = cases::zeros<int>(6 * 64), *out = cases::zeros<int>(64);
  trap_double_buffer_one_barrier<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// Groups are committed in every turn, also empty ones, so that "all but one" always means the stage of this turn.
__global__ void trap_triple_buffer_cp_async(const int* in, int* out, int turns) {
  __shared__ int s[3][64];
  const int t = threadIdx.x;
  const auto fetch = [&](int turn) {
    if (turn < turns)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&s[turn % 3][t])),
                   "l"(in + 64 * turn + t)
                   : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0);
  fetch(1);
  int sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    fetch(turn + 2);
    sum += s[turn % 3][63 - t];
  }
  out[t] = sum;
}
//! C112 clean
CASE(C112, "three stages, wait_group 1, one barrier a turn") {
  int *in = cases::zeros<int>(7 * 64), *out = cases::zeros<int>(64);
  trap_triple_buffer_cp_async<<<1, 64>>>(in, out, 7);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_bytes_of_one_word(char* out) {
  __shared__ char s[64];
  const int t = threadIdx.x;
  s[t] = static_cast<char>(t);
  __syncthreads();
  out[t] = s[63 - t];
}
//! C113 clean
CASE(C113, "thread t writes byte t of a shared char array") {
  char* out = cases::zeros<char>(64);
  trap_bytes_of_one_word<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void trap_bit_fields_by_atomic(unsigned* out) {
  __shared__ unsigned bits[2];
  const int t = threadIdx.x;
  if (t < 2) bits[t] = 0;
  __syncthreads();
  atomicOr(&bits[t % 2], 1u << t / 2);
  __syncthreads();
  out[t] = bits[t % 2];
}
//! C114 clean
CASE(C114, "atomicOr of different bits of one word, read after barrier") {
  unsigned* out = cases::zeros<unsigned>(64);
  trap_bit_fields_by_atomic<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void trap_own_slot_only(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  for (int i = 1; i < 4; ++i) s[t] = s[t] * i + in[64 * i + t];
  out[t] = s[t];
}
//! C115 clean
CASE(C115, "s[t] written and read by thread t only, no barrier") {
  int *in = cases::zeros<int>(4 * 64), *out = cases::zeros<int>(64);
  trap_own_slot_only<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_warp_private_slab(const int* in, int* out) {
  __shared__ int s[4][32];
  const int t = threadIdx.x, w = t / 32, lane = t % 32;
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    s[w][lane] = in[128 * i + t];
    __syncwarp();
    sum += s[w][31 - lane];
    __syncwarp();
  }
  out[t] = sum;
}
//! C116 clean
CASE(C116, "each warp uses its own 32 words with __syncwarp()") {
  int *in = cases::zeros<int>(3 * 128), *out = cases::zeros<int>(128);
  trap_warp_private_slab<<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_syncwarp_submask(const int* in, int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = in[t];
  if (t < 16) {
    __syncwarp(0x0000ffff);
    out[t] = s[15 - t];
  } else {
    __syncwarp(0xffff0000);
    out[t] = s[47 - t];
  }
}
//! C117 clean
CASE(C117, "halves of a warp exchange inside the half with __syncwarp(half mask)") {
  int *in = cases::zeros<int>(32), *out = cases::zeros<int>(32);
  trap_syncwarp_submask<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_tile16_sync(const int* in, int* out) {
  __shared__ int s[64];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int t = threadIdx.x, first = t / 16 * 16;
  s[t] = in[t];
  tile.sync();
  out[t] = s[first + 15 - t % 16];
}
//! C118 clean
CASE(C118, "tiled_partition<16>.sync() between write and read") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  trap_tile16_sync<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// Barrier 1: the buffer is full. Barrier 2: it is empty.
__global__ void trap_bar_arrive_sync_pair(const int* in, int* out, int turns) {
  __shared__ int s[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int i = 0; i < turns; ++i) {
      if (i > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      s[lane] = in[32 * i + lane];
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
  } else {
    int sum = 0;
    for (int i = 0; i < turns; ++i) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      sum += s[31 - lane];
      if (i + 1 < turns) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
    out[lane] = sum;
  }
}
//! C119 clean
CASE(C119, "producer bar.arrive, consumer bar.sync, and the other way for \"empty\"") {
  int *in = cases::zeros<int>(5 * 32), *out = cases::zeros<int>(32);
  trap_bar_arrive_sync_pair<<<1, 64>>>(in, out, 5);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__device__ __forceinline__ void arrive(unsigned bar) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(bar) : "memory");
}
__device__ __forceinline__ void wait(unsigned bar, unsigned parity) {
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p;\n"
        "mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar), "r"(parity)
        : "memory");
}
__global__ void trap_mbarrier_phase_pingpong(const int* in, int* out, int turns) {
  __shared__ int s[32];
  __shared__ alignas(8) unsigned long long barriers[2];
  const int lane = threadIdx.x % 32;
  const unsigned full = shared_address(&barriers[0]), empty = shared_address(&barriers[1]);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(full) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(empty) : "memory");
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int i = 0; i < turns; ++i) {
      wait(empty, (i & 1) ^ 1);
      s[lane] = in[32 * i + lane];
      arrive(full);
    }
  } else {
    int sum = 0;
    for (int i = 0; i < turns; ++i) {
      wait(full, i & 1);
      sum += s[31 - lane];
      arrive(empty);
    }
    out[lane] = sum;
  }
}
//! C120 clean
CASE(C120, "full/empty mbarriers with parity") {
  int *in = cases::zeros<int>(5 * 32), *out = cases::zeros<int>(32);
  trap_mbarrier_phase_pingpong<<<1, 64>>>(in, out, 5);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_union_reuse_after_barrier(const int* in, int* out) {
  __shared__ union {
    int i[128];
    double d[64];
  } s;
  const int t = threadIdx.x;
  s.i[t] = in[t];
  s.i[64 + t] = in[64 + t];
  __syncthreads();
  const int sum = s.i[127 - t] + s.i[63 - t];
  __syncthreads();
  s.d[t] = sum;
  __syncthreads();
  out[t] = static_cast<int>(s.d[63 - t]);
}
//! C121 clean
CASE(C121, "one shared block seen as int[] then, after a barrier, as double[]") {
  int *in = cases::zeros<int>(128), *out = cases::zeros<int>(64);
  trap_union_reuse_after_barrier<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_epoch_wrap(int* out, int turns) {
  __shared__ int s[1];
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < turns; ++i) {
    if (t == (i & 63)) s[0] = i;
    __syncthreads();
    sum += s[0];
    __syncthreads();
  }
  out[t] = sum;
}
//! C122 clean
CASE(C122, "100 000 barriers in one launch, word written in each turn") {
  int* out = cases::zeros<int>(64);
  trap_epoch_wrap<<<1, 64>>>(out, 50000);
  cudaDeviceSynchronize();
  cudaFree(out);
}
