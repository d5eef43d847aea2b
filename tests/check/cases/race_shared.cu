// Races in shared memory, between warps and within one.
#include "cases.h"

// Warp 0's last lane reads what warp 1's first one writes; the others read from their own warp.
__global__ void neighbour_read_no_barrier(const float* in, float* out) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  //! C034 ERROR race-shared thread=32,0,0 block=0,0,0 access=write //! C034 may WARNING race-warp
  s[t] = in[t];
  //! C034 ERROR race-shared thread=31,0,0 block=0,0,0 access=read //! C034 may WARNING race-warp
  if (t < 63) out[t] = s[t + 1];
}
CASE(C034, "s[t]=x; read s[t+1]; no barrier, 64 threads") {
  float *in = cases::zeros<float>(64), *out = cases::zeros<float>(64);
  neighbour_read_no_barrier<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void barrier_only_before_write(const float* in, float* out, int turns) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    s[t] = in[64 * turn + t];  //! C035 ERROR race-shared access=write
    __syncthreads();
    sum += s[63 - t];  //! C035 ERROR race-shared access=read
  }
  out[t] = sum;
}
CASE(C035, "loop: write s[t]; barrier; read all; next turn writes without a barrier") {
  float *in = cases::zeros<float>(4 * 64), *out = cases::zeros<float>(64);
  barrier_only_before_write<<<1, 64>>>(in, out, 4);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void all_write_one_word(int* out) {
  __shared__ int s[1];
  s[0] = threadIdx.x;  //! C036 ERROR race-shared block=0,0,0 access=write
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s[0];
}
CASE(C036, "every thread writes its id to s[0]") {
  int* out = cases::zeros<int>(1);
  all_write_one_word<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void increment_shared_counter(int* out) {
  __shared__ int s[1];
  if (threadIdx.x == 0) s[0] = 0;
  __syncthreads();
  s[0]++;  //! C037 ERROR race-shared message~atomicAdd //! C037 may WARNING race-warp
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s[0];
}
CASE(C037, "s[0]++ by all threads") {
  int* out = cases::zeros<int>(1);
  increment_shared_counter<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void atomic_and_plain_shared(int* out) {
  __shared__ int s[1];
  if (threadIdx.x == 0) s[0] = 0;  //! C038 ERROR race-shared thread=0,0,0 access=write //! C038 may WARNING race-warp
  atomicAdd(&s[0], 1);             //! C038 ERROR race-shared access=atomic //! C038 may WARNING race-warp
  __syncthreads();
  if (threadIdx.x == 0) out[0] = s[0];
}
CASE(C038, "atomicAdd on s[0], thread 0 also writes s[0]=0 without barrier") {
  int* out = cases::zeros<int>(1);
  atomic_and_plain_shared<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// The reader passes barrier 3 alone: no thread of the writer takes part in it.
__global__ void barrier_in_one_warp_only(const int* in, int* out) {
  __shared__ int s[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    s[lane] = in[lane];  //! C039 ERROR race-shared access=write
  } else {
    asm volatile("bar.sync 3, 32;" ::: "memory");
    out[lane] = s[lane];  //! C039 ERROR race-shared access=read
  }
}
CASE(C039, "reader warp passes a named barrier 3 with 32 threads alone, writer never comes") {
  int *in = cases::zeros<int>(32), *out = cases::zeros<int>(32);
  barrier_in_one_warp_only<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// A thread that only arrives does not wait, and acquires nothing.
__global__ void arrive_is_no_acquire(const int* in, int* out) {
  __shared__ int s[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    s[lane] = in[lane];  //! C040 ERROR race-shared access=write message~bar.arrive
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    out[lane] = s[lane];  //! C040 ERROR race-shared access=read
  }
}
CASE(C040, "consumer calls bar.arrive instead of bar.sync on the full barrier, then reads") {
  int *in = cases::zeros<int>(32), *out = cases::zeros<int>(32);
  arrive_is_no_acquire<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// The empty asm statement keeps the compiler from storing only the last sum.
__global__ void warp_reduction_plain(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    for (int d = 32; d > 0; d /= 2) {
      s[t] += s[t + d];  //! C041 WARNING race-warp
      asm volatile("" ::: "memory");
    }
  }
  if (t == 0) out[0] = s[0];
}
CASE(C041, "last warp adds s[t]+=s[t+16], +8 ... without __syncwarp") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(1);
  warp_reduction_plain<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void warp_volatile_reduction(const int* in, int* out) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    s[t] = s[t] + s[t + 32];  //! C042 any
    s[t] = s[t] + s[t + 16];  //! C042 WARNING race-warp
    s[t] = s[t] + s[t + 8];   //! C042 WARNING race-warp
    s[t] = s[t] + s[t + 4];   //! C042 any
    s[t] = s[t] + s[t + 2];   //! C042 any
    s[t] = s[t] + s[t + 1];   //! C042 any
  }
  if (t == 0) out[0] = s[0];
}
CASE(C042, "the same with volatile") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(1);
  warp_volatile_reduction<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void lane0_publishes_to_warp(const int* in, int* out) {
  __shared__ int s[2];
  const int w = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) s[w] = in[w];  //! C043 WARNING race-warp thread=0,0,0 access=write
  out[threadIdx.x] = s[w];                  //! C043 WARNING race-warp thread=1,0,0 access=read
}
CASE(C043, "lane 0 writes s[w]; all lanes read it in the next statement") {
  int *in = cases::zeros<int>(2), *out = cases::zeros<int>(64);
  lane0_publishes_to_warp<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void syncwarp_half_mask(const int* in, int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = in[t];  //! C044 WARNING race-warp access=write message~0x0000ffff
  if (t < 16) {
    __syncwarp(0x0000ffff);
    out[t] = s[31 - t];  //! C044 WARNING race-warp access=read
  }
}
CASE(C044, "__syncwarp(0x0000ffff) by the lower half, then they read what the upper half wrote") {
  int *in = cases::zeros<int>(32), *out = cases::zeros<int>(32);
  syncwarp_half_mask<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void ordered_by_shuffle_only(const int* in, int* out) {
  __shared__ int s[33];
  const int t = threadIdx.x;
  s[t + 1] = in[t];  //! C045 WARNING race-warp access=write message~shuffle
  const int other = __shfl_sync(~0u, in[32 + t], 7);
  if (t > 0) out[t] = other + s[t];  //! C045 WARNING race-warp access=read
}
CASE(C045, "lane l writes s[l]; __shfl_sync of something else; lane l+1 reads s[l]") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(32);
  ordered_by_shuffle_only<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void same_instruction_two_values(int* out) {
  __shared__ int s[16];
  const int t = threadIdx.x;
  //! C046 ERROR race-shared thread=0,0,0 access=write //! C046 ERROR race-shared thread=1,0,0 access=write
  s[t / 2] = t;
  __syncthreads();
  if (t < 16) out[t] = s[t];
}
CASE(C046, "lanes 2k and 2k+1 store different values to s[k]") {
  int* out = cases::zeros<int>(16);
  same_instruction_two_values<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__device__ void store_plainly(int* to, int value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared_address(to)), "r"(value) : "memory");  //! C053 any
}
__device__ int load_plainly(const int* from) {
  int value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(shared_address(from)) : "memory");  //! C053 any
  return value;
}

// The poll is an asm statement, because a compiler may take a plain load out of a loop; and it ends, because the GPU's
// own compiler may do the same.
__global__ void spin_flag_in_shared_plain(const int* in, int* out) {
  __shared__ int flag, data;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = in[0];             //! C053 ERROR race-shared#data access=write
    store_plainly(&flag, 1);  //! C053 ERROR race-shared#flag
  }
  if (threadIdx.x == 32) {
    int seen = 0;
    for (int i = 0; i < 100000 && !seen; ++i) seen = load_plainly(&flag);  //! C053 ERROR race-shared#flag
    out[0] = data;                                                         //! C053 ERROR race-shared#data access=read
  }
}
CASE(C053, "warp 0 sets plain shared flag, warp 1 polls it, then reads data") {
  int *in = cases::zeros<int>(1), *out = cases::zeros<int>(1);
  spin_flag_in_shared_plain<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void tile_without_second_barrier(const float* in, float* out, int tiles) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < tiles; ++i) {
    tile[t] = in[i * 128 + t];  //! C205 ERROR race-shared access=write object~tile message~"next iteration"
    __syncthreads();
    for (int k = 0; k < 128; ++k)
      sum += tile[127 - k];  //! C205 ERROR race-shared access=read message~"write after read"
  }
  out[t] = sum;
}
CASE(C205, "tiled loop with one barrier: the next tile is written while slower warps still read the last one") {
  float *in = cases::zeros<float>(512), *out = cases::zeros<float>(128);
  tile_without_second_barrier<<<1, 128>>>(in, out, 4);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// Macros, so that the access is on the line of the kernel. Fragments have 8 registers a lane.
#define STORE_FRAGMENT(to, r)                                                                                   \
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1,%1,%1,%1,%1,%1,%1,%1}, 16;" ::"r"( \
                   shared_address(to)),                                                                         \
               "f"(r)                                                                                           \
               : "memory")
#define LOAD_FRAGMENT(r, from)                                                                   \
  asm volatile(                                                                                  \
      "{ .reg .f32 a, b, c, d, e, f, g;\n"                                                       \
      "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%0, a, b, c, d, e, f, g}, [%1], 16; }" \
      : "=f"(r)                                                                                  \
      : "r"(shared_address(from))                                                                \
      : "memory")

__global__ void wmma_store_no_syncwarp(float* out) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  STORE_FRAGMENT(s, 1.0f);  //! C229 WARNING race-warp access=write message~"__syncwarp()" message~fragment
  for (int i = t; i < 256; i += 32) out[i] = s[i];  //! C229 WARNING race-warp access=read
}
CASE(C229, "fragment stored by wmma, then each lane reads its share, without __syncwarp()") {
  float* out = cases::zeros<float>(256);
  wmma_store_no_syncwarp<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// The same elements of an accumulator belong to the same lane at each load and store.
__global__ void wmma_in_place(float* out) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) s[i] = t;
  __syncwarp();
  for (int turn = 0; turn < 2; ++turn) {
    float r;
    LOAD_FRAGMENT(r, s);
    STORE_FRAGMENT(s, r + 1);
  }
  __syncwarp();
  for (int i = t; i < 256; i += 32) out[i] = s[i];
}
//! C230 clean
CASE(C230, "accumulator loaded and stored in place by wmma, __syncwarp() before other lanes read") {
  float* out = cases::zeros<float>(256);
  wmma_in_place<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
