// Bulk copies and mbarriers. Each bug stands beside its twin, which is right.
#include "async_ptx.h"
#include "cases.h"

__global__ void fence_by_one_thread(int* out) {
  __shared__ alignas(16) int s[64];
  const int t = threadIdx.x;
  //! C231 ERROR race-proxy access=write message~"by the writing thread before the barrier"
  s[t] = t;
  if (t == 0) PROXY_FENCE(".shared::cta");
  __syncthreads();
  if (t == 0) {
    //! C231 ERROR race-proxy message~fence_view_async_shared message~fence_proxy_async(space_shared)
    BULK_STORE(out, s, 256);
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}
CASE(C231, "fence.proxy.async by the copying thread before the barrier, not by the threads that wrote") {
  int* out = cases::zeros<int>(64);
  fence_by_one_thread<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void fence_by_all_threads(int* out) {
  __shared__ alignas(16) int s[64];
  const int t = threadIdx.x;
  s[t] = t;
  PROXY_FENCE(".shared::cta");
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, s, 256);
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}
CASE(C232, "fence.proxy.async by all writing threads, barrier, bulk store") {  //! C232 clean
  int* out = cases::zeros<int>(64);
  fence_by_all_threads<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void fence_of_global(int* out) {
  __shared__ alignas(16) int s[64];
  const int t = threadIdx.x;
  s[t] = t;  //! C233 ERROR race-proxy access=write
  PROXY_FENCE(".global");
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, s, 256);  //! C233 ERROR race-proxy access="asynchronous read"
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}
CASE(C233, "fence.proxy.async.global between writes to shared memory and their bulk store") {
  int* out = cases::zeros<int>(64);
  fence_of_global<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// Another thread waits at an mbarrier for the writers, fences, and copies.
__global__ void fence_behind_mbarrier(int* out) {
  __shared__ alignas(16) int s[32];
  __shared__ unsigned long long full;
  const int t = threadIdx.x;
  if (t == 0) MBARRIER_INIT(full, 32);
  __syncthreads();
  if (t >= 32) {
    s[t - 32] = t;
    MBARRIER_ARRIVE(full);
  } else if (t == 0) {
    MBARRIER_WAIT(full, 0);
    PROXY_FENCE(".shared::cta");
    BULK_STORE(out, s, 128);
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}
CASE(C234, "the copying thread waits at an mbarrier for the writers, then fences") {  //! C234 clean
  int* out = cases::zeros<int>(32);
  fence_behind_mbarrier<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void fence_too_early(int* out) {
  __shared__ alignas(16) int s[64];
  const int t = threadIdx.x;
  PROXY_FENCE(".shared::cta");
  s[t] = t;  //! C235 ERROR race-proxy access=write
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, s, 256);  //! C235 ERROR race-proxy access="asynchronous read"
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}
CASE(C235, "fence.proxy.async before the writes instead of after them") {
  int* out = cases::zeros<int>(64);
  fence_too_early<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void fence_after_barrier(int* out) {
  __shared__ alignas(16) int s[64];
  const int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  if (t == 0) {
    PROXY_FENCE("");
    BULK_STORE(out, s, 256);
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}
CASE(C236, "fence.proxy.async by the copying thread behind the barrier") {  //! C236 clean
  int* out = cases::zeros<int>(64);
  fence_after_barrier<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

template <bool kFence>
__global__ void global_written_then_loaded(int* data, int* out) {
  __shared__ alignas(16) int s[64];
  __shared__ unsigned long long full;
  const int t = threadIdx.x;
  if (t == 0) MBARRIER_INIT(full, 1);
  data[t] = t;  //! C237 ERROR race-proxy access=write message~"global memory"
  if (kFence) PROXY_FENCE(".global");
  __syncthreads();
  if (t == 0) {
    MBARRIER_EXPECT(full, 256);
    BULK_LOAD(s, data, 256, full);  //! C237 ERROR race-proxy access="asynchronous read"
  }
  MBARRIER_WAIT(full, 0);
  out[t] = s[63 - t];
}
CASE(C237, "bulk load of global memory that the kernel has written, without fence.proxy.async") {
  int *data = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  global_written_then_loaded<false><<<1, 64>>>(data, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
}
CASE(C238, "bulk load of global memory that the kernel has written, with fence.proxy.async.global") {  //! C238 clean
  int *data = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  global_written_then_loaded<true><<<1, 64>>>(data, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
}

template <bool kFence>
__global__ void loaded_over_plain_writes(const int* in, int* out) {
  __shared__ alignas(16) int s[64];
  __shared__ unsigned long long full;
  const int t = threadIdx.x;
  if (t == 0) MBARRIER_INIT(full, 1);
  s[t] = t;  //! C239 WARNING race-proxy access=write message~"its write may come before"
  if (kFence) PROXY_FENCE(".shared::cta");
  __syncthreads();
  if (t == 0) {
    MBARRIER_EXPECT(full, 256);
    BULK_LOAD(s, in, 256, full);  //! C239 WARNING race-proxy access="asynchronous write"
  }
  MBARRIER_WAIT(full, 0);
  out[t] = s[63 - t];
}
CASE(C239, "bulk load into shared memory that plain stores have filled, without fence.proxy.async") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  loaded_over_plain_writes<false><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C240, "bulk load into shared memory that plain stores have filled, with the fence") {  //! C240 clean
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  loaded_over_plain_writes<true><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

template <bool kWait>
__global__ void source_reused_by_thread(int* out) {
  __shared__ alignas(16) int s[4];
  for (int k = 0; k < 4; ++k) s[k] = k;
  PROXY_FENCE(".shared::cta");
  //! C241 ERROR race-async-copy access="asynchronous read" message~"cp.async.bulk.wait_group.read between line"
  BULK_STORE(out, s, 16);
  BULK_COMMIT();
  if (kWait) BULK_WAIT_READ(0);
  //! C241 ERROR race-async-copy access=write message~tma_store_wait<0>() message~cp_async_bulk_wait_group_read
  s[0] = 7;
  BULK_WAIT(0);
}
CASE(C241, "a thread writes the source of its own bulk store before cp.async.bulk.wait_group.read") {
  int* out = cases::zeros<int>(4);
  source_reused_by_thread<false><<<1, 1>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C242, "a thread writes the source of its bulk store behind cp.async.bulk.wait_group.read") {  //! C242 clean
  int* out = cases::zeros<int>(4);
  source_reused_by_thread<true><<<1, 1>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// Two buffers. kPending: stores that may still read when a buffer is filled again.
template <int kPending>
__global__ void stores_of_two_buffers(int* out) {
  __shared__ alignas(16) int s[2][64];
  const int t = threadIdx.x;
#pragma unroll 1
  for (int turn = 0; turn < 4; ++turn) {
    if (t == 0) BULK_WAIT_READ(kPending);
    __syncthreads();
    //! C243 ERROR race-async-copy access=write message~"cp.async.bulk.wait_group.read before the barrier"
    s[turn % 2][t] = turn;
    PROXY_FENCE(".shared::cta");
    __syncthreads();
    if (t == 0) {
      BULK_STORE(out + 64 * turn, s[turn % 2], 256);  //! C243 ERROR race-async-copy access="asynchronous read"
      BULK_COMMIT();
    }
  }
  if (t == 0) BULK_WAIT(0);
}
CASE(C243, "two buffers of bulk stores with wait_group.read 2 instead of 1") {
  int* out = cases::zeros<int>(256);
  stores_of_two_buffers<2><<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C244, "two buffers of bulk stores with wait_group.read 1") {  //! C244 clean
  int* out = cases::zeros<int>(256);
  stores_of_two_buffers<1><<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

template <bool kRead>
__global__ void result_of_store_read(int* out, int* sum) {
  __shared__ alignas(16) int s[4];
  for (int k = 0; k < 4; ++k) s[k] = k;
  PROXY_FENCE("");
  BULK_STORE(out, s, 16);  //! C245 ERROR race-async-copy access="asynchronous write" message~"without .read"
  BULK_COMMIT();
  if (kRead)
    BULK_WAIT_READ(0);
  else
    BULK_WAIT(0);
  *sum = out[1] + out[2];  //! C245 ERROR race-async-copy access=read
  BULK_WAIT(0);
}
CASE(C245, "what a bulk store has written is read after wait_group.read, which is for the source only") {
  int *out = cases::zeros<int>(4), *sum = cases::zeros<int>(1);
  result_of_store_read<true><<<1, 1>>>(out, sum);
  cudaDeviceSynchronize();
  cudaFree(out);
  cudaFree(sum);
}
CASE(C246, "what a bulk store has written is read after wait_group") {  //! C246 clean
  int *out = cases::zeros<int>(4), *sum = cases::zeros<int>(1);
  result_of_store_read<false><<<1, 1>>>(out, sum);
  cudaDeviceSynchronize();
  cudaFree(out);
  cudaFree(sum);
}

template <bool kBarrier>
__global__ void only_one_thread_waits(const int* in, int* out) {
  __shared__ alignas(16) int s[64];
  __shared__ unsigned long long full;
  const int t = threadIdx.x;
  if (t == 0) MBARRIER_INIT(full, 1);
  __syncthreads();
  if (t == 0) {
    MBARRIER_EXPECT(full, 256);
    BULK_LOAD(s, in, 256, full);  //! C247 ERROR race-async-copy access="asynchronous write"
    MBARRIER_WAIT(full, 0);
  }
  if (kBarrier) __syncthreads();
  out[t] = s[t];  //! C247 ERROR race-async-copy access=read message~"a wait for the copy's mbarrier"
}
CASE(C247, "only the copying thread waits at the mbarrier, and no barrier follows") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  only_one_thread_waits<false><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C248, "only the copying thread waits at the mbarrier, then a barrier") {  //! C248 clean
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  only_one_thread_waits<true><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// The parity of the phase has to flip after each turn. The wrong wait gives up, for it does not end if the copy is
// quick.
template <bool kFlip>
__global__ void parity_of_turns(const int* in, int* out) {
  __shared__ alignas(16) int s[64];
  __shared__ unsigned long long full;
  const int t = threadIdx.x;
  if (t == 0) MBARRIER_INIT(full, 33);
  __syncthreads();
  int sum = 0;
  if (t >= 32) {
#pragma unroll 1
    for (int turn = 0; turn < 2; ++turn) {
      MBARRIER_ARRIVE(full);
      if (t == 32) {
        MBARRIER_EXPECT(full, 256);
        BULK_LOAD(s, in + 64 * turn, 256, full);  //! C249 ERROR race-async-copy access="asynchronous write"
      }
      if (kFlip) MBARRIER_WAIT(full, turn & 1);
      //! C249 any
      else
        MBARRIER_POLL(full, 0);
      sum += s[t];  //! C249 ERROR race-async-copy access=read message~"flip the parity" message~"phase 0 (parity 0)"
      __syncwarp();
    }
    MBARRIER_WAIT(full, 1);
  }
  out[t] = sum;
}
CASE(C249, "a loop of bulk loads waits for parity 0 in each turn") {
  int *in = cases::zeros<int>(128), *out = cases::zeros<int>(64);
  parity_of_turns<false><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C250, "a loop of bulk loads flips the parity") {  //! C250 clean
  int *in = cases::zeros<int>(128), *out = cases::zeros<int>(64);
  parity_of_turns<true><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

template <int kBytes>
__global__ void two_loads_of_a_phase(const int* in, int* out) {
  __shared__ alignas(16) int s[128];
  __shared__ unsigned long long full;
  const int t = threadIdx.x;
  if (t == 0) MBARRIER_INIT(full, 1);
  __syncthreads();
  if (t == 0) {
    MBARRIER_EXPECT(full, kBytes);  //! C251 any
    BULK_LOAD(s, in, 256, full);
    BULK_LOAD(s + 64, in + 64, 256, full);  //! C251 ERROR mbarrier-bytes message~"256 bytes more than expect_tx"
  }
  MBARRIER_WAIT(full, 0);
  out[t] = s[t] + s[64 + t];
}
CASE(C251, "expect_tx announces the bytes of one of two bulk loads: the phase completes early") {
  int *in = cases::zeros<int>(128), *out = cases::zeros<int>(64);
  two_loads_of_a_phase<256><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C252, "expect_tx announces the bytes of both bulk loads") {  //! C252 clean
  int *in = cases::zeros<int>(128), *out = cases::zeros<int>(64);
  two_loads_of_a_phase<512><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// Nothing brings the missing bytes.
template <int kBytes>
__global__ void more_bytes_expected(const int* in, int* out) {
  __shared__ alignas(16) int s[64];
  __shared__ unsigned long long full;
  const int t = threadIdx.x;
  if (t == 0) MBARRIER_INIT(full, 1);
  __syncthreads();
  if (t == 0) {
    MBARRIER_EXPECT(full, kBytes);
    BULK_LOAD(s, in, 256, full);
  }
  //! C253 ERROR mbarrier-stuck message~"256 bytes are missing" message~"announced 512 bytes" message~"brought 256"
  MBARRIER_WAIT(full, 0);
  out[t] = s[t];
}
//! C253 hangs_on_gpu
//! C253 options --timeout 3
CASE(C253, "expect_tx announces 512 bytes, the bulk load has 256: the phase never completes") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  more_bytes_expected<512><<<1, 64>>>(in, out);  //! C253 may ERROR timeout
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C254, "expect_tx announces the bytes of the bulk load") {  //! C254 clean
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  more_bytes_expected<256><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// Loads the next tile in each turn, also in the last one.
template <bool kWaitAtEnd>
__global__ void load_ahead(const int* in, int* out) {
  __shared__ alignas(16) int s[2][32];
  __shared__ unsigned long long full[2];
  const int t = threadIdx.x;
  if (t == 0)
    for (int k = 0; k < 2; ++k) MBARRIER_INIT(full[k], 1);
  __syncwarp();
  int sum = 0;
#pragma unroll 1
  for (int turn = 0; turn < 3; ++turn) {
    if (t == 0) {
      MBARRIER_EXPECT(full[turn % 2], 128);
      //! C255 ERROR mbarrier-exit message~"no thread has waited"
      BULK_LOAD(s[turn % 2], in + 32 * turn, 128, full[turn % 2]);
    }
    if (turn > 0) {
      MBARRIER_WAIT(full[(turn - 1) % 2], 0);
      sum += s[(turn - 1) % 2][t];
    }
    __syncwarp();
  }
  if (kWaitAtEnd) MBARRIER_WAIT(full[0], 1);
  out[t] = sum;
}
CASE(C255, "the last bulk load of a loop that loads ahead is never waited for") {
  int *in = cases::zeros<int>(96), *out = cases::zeros<int>(32);
  load_ahead<false><<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C256, "the last bulk load of a loop that loads ahead is waited for") {  //! C256 clean
  int *in = cases::zeros<int>(96), *out = cases::zeros<int>(32);
  load_ahead<true><<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

template <bool kBarrier>
__global__ void used_beside_init(int* out) {
  __shared__ unsigned long long full;
  const int t = threadIdx.x;
  if (t == 0) MBARRIER_INIT(full, 64);  //! C257 ERROR mbarrier-init message~"__syncthreads() between line"
  if (kBarrier) __syncthreads();
  MBARRIER_ARRIVE(full);   //! C257 ERROR mbarrier-init message~"another warp than the one that initialises it"
  MBARRIER_WAIT(full, 0);  //! C257 any
  out[t] = t;
}
CASE(C257, "an mbarrier is used by another warp without a barrier after mbarrier.init") {
  int* out = cases::zeros<int>(64);
  used_beside_init<false><<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C258, "an mbarrier is used behind a barrier after mbarrier.init") {  //! C258 clean
  int* out = cases::zeros<int>(64);
  used_beside_init<true><<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

template <bool kInvalidate>
__global__ void initialised_each_turn(const int* in, int* out) {
  __shared__ alignas(16) int s[32];
  __shared__ unsigned long long full;
  const int t = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int turn = 0; turn < 2; ++turn) {
    if (t == 0) {
      MBARRIER_INIT(full, 1);  //! C259 WARNING mbarrier-reuse message~"without mbarrier.inval"
      MBARRIER_EXPECT(full, 128);
      BULK_LOAD(s, in + 32 * turn, 128, full);
    }
    __syncwarp();
    MBARRIER_WAIT(full, 0);
    sum += s[t];
    __syncwarp();
    if (kInvalidate && t == 0) MBARRIER_INVALIDATE(full);
    __syncwarp();
  }
  out[t] = sum;
}
CASE(C259, "an mbarrier is initialised in each turn of a loop") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(32);
  initialised_each_turn<false><<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C260, "an mbarrier is invalidated and initialised in each turn of a loop") {  //! C260 clean
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(32);
  initialised_each_turn<true><<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// A producer and consumers with full and empty mbarriers. The producer's first wait has to be for the phase before the
// first, of parity 1.
template <int kFirstParity>
__global__ void empty_and_full(const int* in, int* out) {
  __shared__ alignas(16) int s[32];
  __shared__ unsigned long long full, empty;
  const int t = threadIdx.x;
  if (t == 0) {
    MBARRIER_INIT(full, 1);
    MBARRIER_INIT(empty, 32);
  }
  __syncthreads();
  if (t == 32) {
#pragma unroll 1
    for (int turn = 0; turn < 4; ++turn) {
      //! C261 ERROR mbarrier-stuck message~"32 of 32 arrivals are missing" message~"parity 1 for the first"
      MBARRIER_WAIT(empty, (turn & 1) ^ kFirstParity);
      MBARRIER_EXPECT(full, 128);
      BULK_LOAD(s, in + 32 * turn, 128, full);
    }
  } else if (t < 32) {
    int sum = 0;
#pragma unroll 1
    for (int turn = 0; turn < 4; ++turn) {
      MBARRIER_WAIT(full, turn & 1);  //! C261 any
      sum += s[t];
      MBARRIER_ARRIVE(empty);
    }
    out[t] = sum;
  }
}
//! C261 hangs_on_gpu
//! C261 options --timeout 3
CASE(C261, "the producer waits for parity 0 of the empty mbarrier in the first turn") {
  int *in = cases::zeros<int>(128), *out = cases::zeros<int>(32);
  empty_and_full<0><<<1, 64>>>(in, out);  //! C261 may ERROR timeout
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C262, "the producer waits for parity 1 of the empty mbarrier in the first turn") {  //! C262 clean
  int *in = cases::zeros<int>(128), *out = cases::zeros<int>(32);
  empty_and_full<1><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// All lanes of a warp store to one place.
template <bool kOwnSource>
__global__ void store_by_a_warp(int* out) {
  __shared__ alignas(16) int s[32 * 4];
  const int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) s[4 * t + k] = t;
  PROXY_FENCE("");
  __syncwarp();
  BULK_STORE(out, &s[kOwnSource ? 4 * t : 0], 16);  //! C472 ERROR race-async-copy
  BULK_COMMIT();
  BULK_WAIT(0);
}
CASE(C472, "all lanes of a warp store different data to one place by bulk copies") {
  int* out = cases::zeros<int>(4);
  store_by_a_warp<true><<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C473,
     "all lanes of a warp make the same bulk copy, as CUTLASS stores tiles") {  //! C473 at-most INFO race-same-value
  int* out = cases::zeros<int>(4);
  store_by_a_warp<false><<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
