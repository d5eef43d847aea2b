// Kernels of tests/unit/device_warps_test.cpp. warps.ptx is made by
//   nvcc -arch=sm_90 -lineinfo -ptx warps.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// The cases whose results an H200 gave (tests/data/h200/shuffles.csv). zeros[] is all 0, and keeps the compiler from
// knowing it.
extern "C" __global__ void probe(int which, int* out, const int* zeros) {
  const int t = threadIdx.x;
  int v = zeros[t] + t + 1, r = -1;
  switch (which) {
    case 0:
      if (t < 8) r = v + __shfl_down_sync(0xff, v, 8);
      break;
    case 1:
      if (t < 8) {
        for (int i = 0; i < zeros[40] + 3; ++i) v += zeros[41 + i];
        r = __shfl_down_sync(0xff, v, 8);
      }
      break;
    case 2:
      if (t < 8) r = __shfl_sync(0xff, v, 20);
      break;
    case 3:
      if (t < 8) r = __shfl_xor_sync(0xff, v, 8);
      break;
    case 4:
      if (t < 8) r = __shfl_up_sync(0xff, v, 1);
      break;
    case 5:
      if (t >= 16) return;
      v *= 10;
      r = __shfl_down_sync(0xffff, v, 8);
      break;
    case 6:
      if (t & 1) {
        r = __shfl_xor_sync(0xaaaaaaaa, v, 1);
      } else {
        v = 1000 + t;
        r = __shfl_xor_sync(0x55555555, v, 1);
      }
      break;
    case 7:
      if (t < 16) {
        r = __shfl_down_sync(0xffffffff, v, 4);
      } else {
        v += 100;
        r = __shfl_down_sync(0xffffffff, v, 4);
      }
      break;
    case 8:
      r = __ballot_sync(t < 16 ? 0xffffu : 0xffff0000u, t % 3 == 0);
      break;
    case 9:
      if (t < 16)
        r = __ballot_sync(0xffffffff, t & 1);
      else
        r = __ballot_sync(0xffffffff, t % 3 == 0);
      break;
    case 10:
      if (t < 20) r = __match_any_sync(0xfffff, t / 3);
      break;
    case 11:
      if (t < 20) r = __reduce_add_sync(t < 10 ? 0x3ff : 0xffc00, v);
      break;
    case 12:
      if (t < 4) r = __activemask();
      break;
    case 13:
      r = __shfl_sync(~0u, v, 40);
      break;
    case 14:
      r = __shfl_sync(~0u, v, t + 1, 8);
      break;
  }
  out[t] = r;
}

// A compare-and-swap loop, then a barrier.
extern "C" __global__ void count_by_cas(unsigned* out) {
  __shared__ unsigned s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  unsigned o = s, a;
  do {
    a = o;
    o = atomicCAS(&s, a, a + 1);
  } while (o != a);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

extern "C" __global__ void sum_by_cas(double* sum, double* seen) {
  auto* word = reinterpret_cast<unsigned long long*>(sum);
  unsigned long long old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __double_as_longlong(threadIdx.x + 1 + __longlong_as_double(assumed)));
  } while (assumed != old);
  __syncthreads();
  seen[threadIdx.x] = *reinterpret_cast<volatile double*>(sum);
}

// Votes of tiles: a member mask for each 8 lanes.
extern "C" __global__ void tile_votes(unsigned* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const bool p = threadIdx.x >= 16;
  const unsigned lane = threadIdx.x;
  out[lane] = tile.ballot(p);
  out[32 + lane] = tile.any(p) | tile.all(p) << 1;
  out[64 + lane] = tile.shfl(lane, 3) + 100 * cg::reduce(tile, lane, cg::plus<unsigned>());
}

// Both sides of a branch meet at a barrier of one number, three times; each sees what the other wrote before.
extern "C" __global__ void split_barrier(int* out) {
  __shared__ int box[256];
  const int t = threadIdx.x;
  box[t] = t;
  int r = 0;
  if (t % 3 == 0) {
    for (int i = 0; i < 3; ++i) {
      asm volatile("barrier.sync 0;" ::: "memory");
      r = r * 3 + box[(t + 1) % blockDim.x];
      asm volatile("barrier.sync 0;" ::: "memory");
      box[t] += 2;
    }
  } else {
    int sum = t;
    for (int i = 0; i < 3; ++i) {
      asm volatile("barrier.sync 0;" ::: "memory");
      r = r * 5 + box[(t + 1) % blockDim.x];
      asm volatile("barrier.sync 0;" ::: "memory");
      box[t] += 7;
      sum += r;
    }
    r = sum;
  }
  out[blockIdx.x * blockDim.x + t] = r;
}

// Each thread passes as many barriers as its number says, then leaves.
extern "C" __global__ void ragged_barriers(int* out) {
  __shared__ int passed[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x) passed[i] = 0;
  __syncthreads();
  for (int i = 0; i < (int)threadIdx.x % 64; ++i) {
    atomicAdd(&passed[i], 1);
    asm volatile("barrier.sync 0;" ::: "memory");
    out[threadIdx.x * 64 + i] = passed[i];
  }
}

// Lanes that named each other meet although one side comes only after the branch has ended.
extern "C" __global__ void meet_later(int* out) {
  const int t = threadIdx.x;
  int r = t * 10;
  if (t < 16) r += __shfl_xor_sync(0xffffffff, t, 16);
  out[32 + t] = r;
  if (t >= 16) r += 1000 * __shfl_xor_sync(0xffffffff, t + 7, 16);
  out[t] = r;
}

// Lane 0 makes, lane 1 of the same warp takes, hand in hand; both sides of one branch.
extern "C" __global__ void hand_over(volatile int* flag, volatile int* box, int* out, int n) {
  int sum = 0;
  if (threadIdx.x % 2 == 0) {
    for (int i = 1; i <= n; ++i) {
      while (flag[threadIdx.x / 2] != 0) {
      }
      box[threadIdx.x / 2] = i * i + threadIdx.x;
      __threadfence();
      flag[threadIdx.x / 2] = 1;
    }
  } else {
    for (int i = 1; i <= n; ++i) {
      while (flag[threadIdx.x / 2] != 1) {
      }
      sum += box[threadIdx.x / 2];
      __threadfence();
      flag[threadIdx.x / 2] = 0;
    }
  }
  __syncwarp();
  sum += __shfl_xor_sync(0xffffffff, sum, 1);
  out[threadIdx.x] = sum;
}

// Uniform and affine registers of lanes that wait apart: each half counts its own loop and walks its own addresses.
extern "C" __global__ void own_registers(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  int sum = 0;
  if (t < 16) {
    for (int i = 0; i < n; ++i) {
      sum += in[i * 32 + t] * (i + 1);
      sum += __shfl_xor_sync(0xffffffff, sum, 16);
    }
  } else {
    for (int i = n; i > 0; --i) {
      sum ^= in[i * 16 + t] + i;
      sum += __shfl_xor_sync(0xffffffff, sum, 16);
    }
  }
  out[t] = sum;
}

// Block-wide sums whose result is read without a barrier behind it, one after the other: a race by the book that every
// GPU wins.
__device__ int block_sum(int v) {
  __shared__ int s[32];
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x == 0) s[0] = v;
  }
  __syncthreads();
  return s[0];
}
extern "C" __global__ void sums(int* out) {
  int r = threadIdx.x;
  for (int i = 0; i < 5; ++i) r = (block_sum(r) + i * threadIdx.x) % 1009;
  out[threadIdx.x] = r;
}

// A spin lock whose critical section has a warp-wide part for the holder alone, then a barrier of the block.
extern "C" __global__ void lock_then_barrier(int* mutex, int* counter, int* out) {
  bool done = false;
  while (!done) {
    if (atomicCAS(mutex, 0, 1) == 0) {
      *(volatile int*)counter += 1;
      __threadfence();
      atomicExch(mutex, 0);
      done = true;
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = __ballot_sync(0xffffffff, true);
}

// The lanes that stay meet although the others wait at the end of the kernel.
extern "C" __global__ void some_leave(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    __shared__ int box[128];
    box[threadIdx.x] = i;
    __syncthreads();
    out[i] = box[threadIdx.x / 2] + __shfl_sync(__activemask(), i, threadIdx.x & 16);
  }
}

// Lanes of a mask that never arrive: they wait at a barrier for the lanes that wait for them.
extern "C" __global__ void never_met(int* out) {
  int r = 0;
  if (threadIdx.x < 16)
    r = __shfl_sync(0xffffffff, threadIdx.x, 20);
  else
    asm volatile("barrier.sync 0;" ::: "memory");
  out[threadIdx.x] = r;
}

// Votes, reductions and barrier reductions of lanes that come from two sides.
extern "C" __global__ void met_reductions(int* out) {
  const int t = threadIdx.x;
  int r;
  if (t % 2) {
    r = __reduce_max_sync(0xffffffff, t * 3);
    r += 1000 * __syncthreads_count(t > 10);
    r += __match_any_sync(0xffffffff, t / 4) & 0xf;
  } else {
    r = 7 * __reduce_max_sync(0xffffffff, t * 4);
    r += 2000 * __syncthreads_count(t > 20);
    r += __match_any_sync(0xffffffff, t / 8) & 0xf0;
  }
  out[t] = r;
}

__device__ __noinline__ int helper(int v) {
  return __shfl_xor_sync(0xffffffff, v, 1);
}
// Half a warp in a function that is not inlined: the other half cannot come.
extern "C" __global__ void apart_in_a_function(int* out) {
  int r = -1;
  if (threadIdx.x < 16) r = helper(threadIdx.x);
  out[threadIdx.x] = r;
}
