// Tensor memory of compute capability 10 (tcgen05): allocation, the lanes that a warp may touch, needed waits.
// Each bug stands beside its twin, which is right. The rules are those of the PTX manual; no hardware has run these
// cases. Each block is a warpgroup of 128 threads.
#include "cases.h"
#include "tensor_ptx.h"

struct Operands {
  alignas(128) unsigned a[128 * 16 / 2];
  alignas(128) unsigned b[16 * 16 / 2];
};

#define FILL(m)                                                       \
  for (int i = threadIdx.x; i < 128 * 16 / 2; i += 128) (m).a[i] = 0; \
  if (threadIdx.x < 16 * 16 / 2) (m).b[threadIdx.x] = 0

// After these steps all threads may use `base`.
#define BEGIN(base, bar, columns)                    \
  if (threadIdx.x < 32) TENSOR_ALLOC(base, columns); \
  if (threadIdx.x == 0) {                            \
    MBARRIER_INIT(bar, 1);                           \
    INIT_FENCE();                                    \
  }                                                  \
  TENSOR_BEFORE();                                   \
  __syncthreads();                                   \
  TENSOR_AFTER()

#define END(base, columns) \
  TENSOR_BEFORE();         \
  __syncthreads();         \
  TENSOR_AFTER();          \
  if (threadIdx.x < 32) TENSOR_FREE(base, columns)

#define RUN(kernel)                            \
  unsigned* out = cases::zeros<unsigned>(128); \
  kernel<<<1, 128>>>(out);                     \
  cudaDeviceSynchronize();                     \
  cudaFree(out)

template <bool kFree>
__global__ void not_freed(unsigned* out) {
  __shared__ unsigned base;
  if (threadIdx.x < 32) {
    //! C330 WARNING tensor-memory message~"not freed when the block ends" message~tcgen05_dealloc
    TENSOR_ALLOC(base, 32);
    __syncwarp();
    if (kFree) TENSOR_FREE(base, 32);
  }
  out[threadIdx.x] = 1;
}
//! C330 options --gpu b200
CASE(C330, "tensor memory is not freed") {
  RUN(not_freed<false>);
}
//! C331 options --gpu b200
CASE(C331, "tensor memory is freed before the block ends") {  //! C331 clean
  RUN(not_freed<true>);
}

template <bool kOther>
__global__ void freed_twice(unsigned* out) {
  __shared__ unsigned base[2];
  if (threadIdx.x < 32) {
    TENSOR_ALLOC(base[0], 32);
    TENSOR_ALLOC(base[1], 32);
    __syncwarp();
    TENSOR_FREE(base[1], 32);
    TENSOR_FREE(base[kOther ? 0 : 1], 32);  //! C332 ERROR tensor-memory message~"freed at line"
  }
  out[threadIdx.x] = 1;
}
//! C332 options --gpu b200
CASE(C332, "tensor memory is freed twice") {
  RUN(freed_twice<false>);
}
//! C333 options --gpu b200
CASE(C333, "two allocations of tensor memory are freed") {  //! C333 clean
  RUN(freed_twice<true>);
}

template <bool kAllocate>
__global__ void not_allocated(unsigned* out) {
  __shared__ unsigned base;
  if (threadIdx.x == 0) base = 0;
  __syncthreads();
  if (kAllocate && threadIdx.x < 32) TENSOR_ALLOC(base, 32);
  TENSOR_BEFORE();
  __syncthreads();
  TENSOR_AFTER();
  TENSOR_STORE(own_lanes(base), 1);  //! C334 ERROR tensor-memory message~"before tensor memory has been allocated"
  TENSOR_WAIT_STORES();
  END(base, 32);
  out[threadIdx.x] = 1;
}
//! C334 options --gpu b200
CASE(C334, "tensor memory is used before it is allocated") {
  RUN(not_allocated<false>);
}
//! C335 options --gpu b200
CASE(C335, "tensor memory is used after its allocation") {  //! C335 clean
  RUN(not_allocated<true>);
}

template <bool kUseFirst>
__global__ void after_free(unsigned* out) {
  __shared__ unsigned base;
  if (threadIdx.x < 32) {
    TENSOR_ALLOC(base, 32);
    __syncwarp();
    if (kUseFirst) {
      TENSOR_STORE(base, 1);
      TENSOR_WAIT_STORES();
    }
    TENSOR_FREE(base, 32);
    if (!kUseFirst) TENSOR_STORE(base, 1);  //! C336 ERROR tensor-memory message~"freed at line"
  }
  out[threadIdx.x] = 1;
}
//! C336 options --gpu b200
CASE(C336, "tensor memory is used after it is freed") {
  RUN(after_free<false>);
}
//! C337 options --gpu b200
CASE(C337, "tensor memory is freed after its last use") {  //! C337 clean
  RUN(after_free<true>);
}

template <bool kInside>
__global__ void outside(unsigned* out) {
  __shared__ unsigned base;
  __shared__ unsigned long long bar;
  BEGIN(base, bar, 32);
  TENSOR_STORE(own_lanes(base) + (kInside ? 16 : 24), 1);  //! C338 ERROR tensor-memory message~"columns 24 to 39"
  TENSOR_WAIT_STORES();
  END(base, 32);
  out[threadIdx.x] = 1;
}
//! C338 options --gpu b200
CASE(C338, "tcgen05.st to columns outside of the allocation") {
  RUN(outside<false>);
}
//! C339 options --gpu b200
CASE(C339, "tcgen05.st to the last columns of the allocation") {  //! C339 clean
  RUN(outside<true>);
}

template <bool kOwn>
__global__ void other_lanes(unsigned* out) {
  __shared__ unsigned base;
  __shared__ unsigned long long bar;
  BEGIN(base, bar, 32);
  TENSOR_STORE(kOwn ? own_lanes(base) : base, 1);  //! C340 ERROR tensor-memory message~"reaches lanes"
  TENSOR_WAIT_STORES();
  END(base, 32);
  out[threadIdx.x] = 1;
}
//! C340 options --gpu b200
CASE(C340, "a warp stores to lanes of tensor memory that belong to another warp") {
  RUN(other_lanes<false>);
}
//! C341 options --gpu b200
CASE(C341, "each warp stores to its own lanes of tensor memory") {  //! C341 clean
  RUN(other_lanes<true>);
}

template <bool kWait>
__global__ void result_used(unsigned* out) {
  __shared__ unsigned base;
  __shared__ unsigned long long bar;
  BEGIN(base, bar, 32);
  TENSOR_STORE(own_lanes(base), 1);
  TENSOR_WAIT_STORES();
  unsigned value;
  TENSOR_LOAD(value, own_lanes(base));  //! C342 INFO tensor-registers message~"tcgen05.wait::ld between"
  if (kWait) TENSOR_WAIT_LOADS();
  out[threadIdx.x] = value;  //! C342 INFO tensor-registers access=read message~tcgen05_wait_ld
  if (!kWait) TENSOR_WAIT_LOADS();
  END(base, 32);
}
//! C342 options --gpu b200
CASE(C342, "the result of tcgen05.ld is used before tcgen05.wait::ld") {
  RUN(result_used<false>);
}
//! C343 options --gpu b200
CASE(C343, "the result of tcgen05.ld is used behind tcgen05.wait::ld") {  //! C343 clean
  RUN(result_used<true>);
}

template <bool kWait>
__global__ void sums_stored(unsigned* out) {
  __shared__ Operands m;
  __shared__ unsigned base;
  __shared__ unsigned long long bar;
  FILL(m);
  PROXY_FENCE(".shared::cta");
  BEGIN(base, bar, 32);
  TENSOR_STORE(own_lanes(base), 0);
  if (kWait) TENSOR_WAIT_STORES();
  TENSOR_BEFORE();
  __syncthreads();
  TENSOR_AFTER();
  if (threadIdx.x == 0) {
    TENSOR_PRODUCT(base, m.a, m.b, 1);  //! C344 WARNING tensor-memory message~"still writes" message~tcgen05_wait_st
    TENSOR_COMMIT(bar);
  }
  MBARRIER_WAIT(bar, 0);
  TENSOR_AFTER();
  TENSOR_WAIT_STORES();
  out[threadIdx.x] = 1;
  END(base, 32);
}
//! C344 options --gpu b200
CASE(C344, "tcgen05.st of sums, then tcgen05.mma without tcgen05.wait::st") {
  RUN(sums_stored<false>);
}
//! C345 options --gpu b200
CASE(C345, "tcgen05.st of sums, tcgen05.wait::st, then tcgen05.mma") {  //! C345 clean
  RUN(sums_stored<true>);
}

template <bool kCommit>
__global__ void not_committed(unsigned* out) {
  __shared__ Operands m;
  __shared__ unsigned base;
  __shared__ unsigned long long bar;
  FILL(m);
  PROXY_FENCE(".shared::cta");
  BEGIN(base, bar, 32);
  if (threadIdx.x == 0) {
    TENSOR_PRODUCT(base, m.a, m.b, 0);
    if (kCommit)
      TENSOR_COMMIT(bar);
    else
      MBARRIER_ARRIVE(bar);
  }
  MBARRIER_WAIT(bar, 0);
  TENSOR_AFTER();
  unsigned sum;
  //! C346 WARNING tensor-memory message~"no tcgen05.commit follows it" message~umma_arrive
  TENSOR_LOAD(sum, own_lanes(base));
  TENSOR_WAIT_LOADS();
  out[threadIdx.x] = sum;
  END(base, 32);  //! C346 any
}
//! C346 options --gpu b200
CASE(C346, "sums are read, but no tcgen05.commit follows tcgen05.mma") {
  RUN(not_committed<false>);
}
//! C347 options --gpu b200
CASE(C347, "sums are read behind tcgen05.commit and its mbarrier") {  //! C347 clean
  RUN(not_committed<true>);
}

template <bool kWait>
__global__ void not_waited(unsigned* out) {
  __shared__ Operands m;
  __shared__ unsigned base;
  __shared__ unsigned long long bar;
  FILL(m);
  PROXY_FENCE(".shared::cta");
  BEGIN(base, bar, 32);
  if (threadIdx.x == 0) {
    TENSOR_PRODUCT(base, m.a, m.b, 0);
    TENSOR_COMMIT(bar);
  }
  if (kWait) MBARRIER_WAIT(bar, 0);
  TENSOR_AFTER();
  __syncthreads();
  unsigned sum;
  TENSOR_LOAD(sum, own_lanes(base));  //! C348 WARNING tensor-memory message~"no thread has waited for its mbarrier"
  TENSOR_WAIT_LOADS();
  out[threadIdx.x] = sum;
  if (!kWait) MBARRIER_WAIT(bar, 0);
  END(base, 32);
}
//! C348 options --gpu b200
CASE(C348, "sums are read without a wait for the mbarrier of tcgen05.commit") {
  RUN(not_waited<false>);
}
//! C349 options --gpu b200
CASE(C349, "sums are read behind the wait for the mbarrier of tcgen05.commit") {  //! C349 clean
  RUN(not_waited<true>);
}

template <bool kWaitFirst>
__global__ void overwritten(unsigned* out) {
  __shared__ Operands m;
  __shared__ unsigned base;
  __shared__ unsigned long long bar;
  BEGIN(base, bar, 32);
#pragma unroll 1
  for (int turn = 0; turn < 2; ++turn) {
    FILL(m);  //! C350 ERROR race-tcgen05 access=write
    PROXY_FENCE(".shared::cta");
    TENSOR_BEFORE();
    __syncthreads();
    TENSOR_AFTER();
    if (threadIdx.x == 0) {
      //! C350 ERROR race-tcgen05 access=tcgen05 message~"tcgen05.commit" message~"wait for its mbarrier"
      TENSOR_PRODUCT(base, m.a, m.b, turn);
      TENSOR_COMMIT(bar);
    }
    if (kWaitFirst) MBARRIER_WAIT(bar, turn);
    __syncthreads();
  }
  MBARRIER_WAIT(bar, 1);
  TENSOR_AFTER();
  out[threadIdx.x] = 1;
  END(base, 32);
}
//! C350 options --gpu b200
CASE(C350, "matrices of tcgen05.mma are overwritten before its mbarrier") {
  RUN(overwritten<false>);
}
//! C351 options --gpu b200
CASE(C351, "matrices of tcgen05.mma are overwritten behind the wait for its mbarrier") {  //! C351 clean
  RUN(overwritten<true>);
}

template <bool kFence>
__global__ void not_fenced(unsigned* out) {
  __shared__ Operands m;
  __shared__ unsigned base;
  __shared__ unsigned long long bar;
  FILL(m);  //! C352 ERROR race-proxy access=write message~fence.proxy.async
  if (kFence) PROXY_FENCE(".shared::cta");
  BEGIN(base, bar, 32);
  if (threadIdx.x == 0) {
    //! C352 ERROR race-proxy access=tcgen05 message~"tcgen05 uses the async proxy" message~fence_view_async_shared
    TENSOR_PRODUCT(base, m.a, m.b, 0);
    TENSOR_COMMIT(bar);
  }
  MBARRIER_WAIT(bar, 0);
  TENSOR_AFTER();
  out[threadIdx.x] = 1;
  END(base, 32);
}
//! C352 options --gpu b200
CASE(C352, "matrices of tcgen05.mma are written by plain stores, without fence.proxy.async") {
  RUN(not_fenced<false>);
}
//! C353 options --gpu b200
CASE(C353, "matrices of tcgen05.mma are written by plain stores, fence.proxy.async, barrier") {  //! C353 clean
  RUN(not_fenced<true>);
}

template <bool kFence>
__global__ void copy_not_fenced(unsigned* out) {
  __shared__ Operands m;
  __shared__ unsigned base;
  __shared__ unsigned long long bar;
  FILL(m);  //! C354 ERROR race-proxy access=write message~fence.proxy.async
  if (kFence) PROXY_FENCE(".shared::cta");
  BEGIN(base, bar, 32);
  if (threadIdx.x == 0) {
    TENSOR_COPY(base, m.a);  //! C354 ERROR race-proxy access=tcgen05 message~"tcgen05 uses the async proxy"
    TENSOR_COMMIT(bar);
  }
  MBARRIER_WAIT(bar, 0);
  TENSOR_AFTER();
  out[threadIdx.x] = 1;
  END(base, 32);
}
//! C354 options --gpu b200
CASE(C354, "tcgen05.cp reads what plain stores have written, without fence.proxy.async") {
  RUN(copy_not_fenced<false>);
}
//! C355 options --gpu b200
CASE(C355, "tcgen05.cp reads what plain stores have written, fence.proxy.async, barrier") {  //! C355 clean
  RUN(copy_not_fenced<true>);
}

template <bool kAllocateFirst>
__global__ void given_up(unsigned* out) {
  __shared__ unsigned base;
  if (threadIdx.x < 32) {
    if (!kAllocateFirst) TENSOR_GIVE_UP();
    TENSOR_ALLOC(base, 32);  //! C356 ERROR tensor-memory message~relinquish_alloc_permit
    if (kAllocateFirst) TENSOR_GIVE_UP();
    __syncwarp();
    TENSOR_FREE(base, 32);
  }
  out[threadIdx.x] = 1;
}
//! C356 options --gpu b200
CASE(C356, "tcgen05.alloc behind tcgen05.relinquish_alloc_permit") {
  RUN(given_up<false>);
}
//! C357 options --gpu b200
CASE(C357, "tcgen05.alloc before tcgen05.relinquish_alloc_permit") {  //! C357 clean
  RUN(given_up<true>);
}

template <bool kPower>
__global__ void odd_size(unsigned* out) {
  __shared__ unsigned base;
  if (threadIdx.x < 32) {
    TENSOR_ALLOC(base, kPower ? 64 : 48);  //! C358 ERROR tensor-memory message~"power of two from 32 to 512"
    __syncwarp();
    TENSOR_FREE(base, kPower ? 64 : 48);
  }
  out[threadIdx.x] = 1;
}
//! C358 options --gpu b200
CASE(C358, "tcgen05.alloc of 48 columns") {
  RUN(odd_size<false>);
}
//! C359 options --gpu b200
CASE(C359, "tcgen05.alloc of 64 columns") {  //! C359 clean
  RUN(odd_size<true>);
}

template <bool kEnough>
__global__ void small_size(unsigned* out) {
  __shared__ unsigned base;
  if (threadIdx.x < 32) {
    TENSOR_ALLOC(base, kEnough ? 32 : 16);  //! C360 ERROR tensor-memory message~"power of two from 32 to 512"
    __syncwarp();
    TENSOR_FREE(base, kEnough ? 32 : 16);
  }
  out[threadIdx.x] = 1;
}
//! C360 options --gpu b200
CASE(C360, "tcgen05.alloc of 16 columns") {
  RUN(small_size<false>);
}
//! C361 options --gpu b200
CASE(C361, "tcgen05.alloc of 32 columns") {  //! C361 clean
  RUN(small_size<true>);
}

template <bool kStay>
__global__ void __cluster_dims__(2) pair_gone(unsigned* out) {
  __shared__ Operands m;
  __shared__ unsigned base;
  __shared__ unsigned long long bar;
  FILL(m);
  PROXY_FENCE(".shared::cta");
  const unsigned rank = blockIdx.x;
  if (threadIdx.x < 32) TENSOR_ALLOC_PAIR(base, 32);
  if (threadIdx.x == 0) {
    MBARRIER_INIT(bar, 1);
    INIT_FENCE();
  }
  TENSOR_BEFORE();
  CLUSTER_SYNC();
  TENSOR_AFTER();
  if (!kStay && rank == 1) {
    if (threadIdx.x < 32) TENSOR_FREE_PAIR(base, 32);
    return;
  }
  if (!kStay)
    for (int i = 0; i < 1000; ++i) __nanosleep(100);
  if (rank == 0) {
    if (threadIdx.x == 0) {
      TENSOR_COPY_PAIR(base, m.a);  //! C362 ERROR tensor-memory message~"other block of the pair has ended"
      TENSOR_COMMIT_PAIR(bar);
    }
    MBARRIER_WAIT(bar, 0);  //! C362 may ERROR mbarrier-stuck
  }
  TENSOR_BEFORE();
  CLUSTER_SYNC();
  TENSOR_AFTER();
  if (threadIdx.x < 32) TENSOR_FREE_PAIR(base, 32);
  if (rank == 0) out[threadIdx.x] = 1;
}
//! C362 options --gpu b200
CASE(C362, "tcgen05.cp of a pair of blocks, one of which has ended") {
  unsigned* out = cases::zeros<unsigned>(128);
  pair_gone<false><<<2, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
//! C363 options --gpu b200
CASE(C363, "tcgen05.cp of a pair of blocks, which end together") {  //! C363 clean
  unsigned* out = cases::zeros<unsigned>(128);
  pair_gone<true><<<2, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

template <bool kOne>
__global__ void all_issue(unsigned* out) {
  __shared__ Operands m;
  __shared__ unsigned base;
  __shared__ unsigned long long bar, done;
  FILL(m);
  PROXY_FENCE(".shared::cta");
  if (threadIdx.x == 64) {
    MBARRIER_INIT(done, kOne ? 1 : 32);
    INIT_FENCE();
  }
  BEGIN(base, bar, 32);
  if (threadIdx.x < (kOne ? 1 : 32)) {
    //! C364 WARNING tensor-memory message~"issued by 32 threads" message~elect_one_sync
    TENSOR_PRODUCT(base, m.a, m.b, 0);
    TENSOR_COMMIT(done);
  }
  MBARRIER_WAIT(done, 0);
  TENSOR_AFTER();
  out[threadIdx.x] = 1;
  END(base, 32);
}
//! C364 options --gpu b200
CASE(C364, "all threads of a warp issue tcgen05.mma") {
  RUN(all_issue<false>);
}
//! C365 options --gpu b200
CASE(C365, "one thread issues tcgen05.mma") {  //! C365 clean
  RUN(all_issue<true>);
}

template <bool kAtOnce>
__global__ void blocks_wait(unsigned* out) {
  __shared__ unsigned base[2];
  if (threadIdx.x < 32) {
    TENSOR_ALLOC(base[0], kAtOnce ? 512 : 256);
    if (!kAtOnce) TENSOR_ALLOC(base[1], 256);  //! C366 WARNING tensor-memory message~"each may wait for ever"
    TENSOR_GIVE_UP();
    __syncwarp();
    if (!kAtOnce) TENSOR_FREE(base[1], 256);
    TENSOR_FREE(base[0], kAtOnce ? 512 : 256);
  }
  if (blockIdx.x == 0) out[threadIdx.x] = 1;
}
//! C366 options --gpu b200
CASE(C366, "two blocks fit on an SM; each allocates half of the tensor memory, then the other half") {
  unsigned* out = cases::zeros<unsigned>(128);
  blocks_wait<false><<<600, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
//! C367 options --gpu b200
CASE(C367, "two blocks fit on an SM; each allocates all of the tensor memory at once") {  //! C367 clean
  unsigned* out = cases::zeros<unsigned>(128);
  blocks_wait<true><<<600, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// The right twin is C347.
__global__ void no_fence_after(unsigned* out) {
  __shared__ Operands m;
  __shared__ unsigned base;
  __shared__ unsigned long long bar;
  FILL(m);
  PROXY_FENCE(".shared::cta");
  BEGIN(base, bar, 32);
  if (threadIdx.x == 0) {
    TENSOR_PRODUCT(base, m.a, m.b, 0);
    TENSOR_COMMIT(bar);
  }
  MBARRIER_WAIT(bar, 0);  //! C370 INFO tensor-fence message~tcgen05_fence_after_thread_sync
  unsigned sum;
  TENSOR_LOAD(sum, own_lanes(base));  //! C370 INFO tensor-fence message~"tcgen05.fence::after_thread_sync between"
  TENSOR_WAIT_LOADS();
  out[threadIdx.x] = sum;
  END(base, 32);
}
//! C370 options --gpu b200
CASE(C370, "sums are read behind the wait for tcgen05.commit, without tcgen05.fence::after_thread_sync") {
  RUN(no_fence_after);
}

// A block takes over the work of blocks that have not begun, one after another.
template <bool kWait>
__global__ void next_work(unsigned* out) {
  __shared__ alignas(16) unsigned response[4];
  __shared__ unsigned long long full;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(full, 1);
    INIT_FENCE();
  }
  __syncthreads();
  unsigned more = 1, early = 0;
#pragma unroll 1
  for (unsigned turn = 0; more; ++turn) {
    if (threadIdx.x == 0) {
      MBARRIER_EXPECT(full, 16);
      TRY_CANCEL(response, full);  //! C474 ERROR race-async-copy access="asynchronous write"
    }
    __syncwarp();
    if (!kWait) early += *static_cast<volatile unsigned*>(response);  //! C474 ERROR race-async-copy access=read
    MBARRIER_WAIT(full, turn & 1);
    asm volatile(
        "{ .reg .b128 q; .reg .pred p; ld.shared.b128 q, [%1];"
        " clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, q; selp.u32 %0, 1, 0, p; }"
        : "=r"(more)
        : "r"(shared_address(response))
        : "memory");
    PROXY_FENCE(".shared::cta");
    __syncthreads();
  }
  out[threadIdx.x] = early;
}
//! C474 options --gpu b200
CASE(C474, "the response of try_cancel is read before the wait for its mbarrier") {
  unsigned* out = cases::zeros<unsigned>(32);
  next_work<false><<<300, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
//! C475 options --gpu b200
CASE(C475, "the response of try_cancel is read after the wait for its mbarrier") {  //! C475 clean
  unsigned* out = cases::zeros<unsigned>(32);
  next_work<true><<<300, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// A ring of one stage, as CUTLASS's PipelineTmaUmmaAsync: warp 1 copies, warp 0 multiplies and hands the stage back by
// tcgen05.commit. The product began after the copy was complete, so the next copy comes after both.
template <bool kWaitForEmpty>
__global__ void ring_of_one_stage(const unsigned* in, unsigned* out) {
  __shared__ Operands m;
  __shared__ unsigned base;
  __shared__ unsigned long long full, empty, done;
  BEGIN(base, done, 32);
  if (threadIdx.x == 0) {
    MBARRIER_INIT(full, 1);
    MBARRIER_INIT(empty, 1);
    INIT_FENCE();
  }
  __syncthreads();
  constexpr unsigned kTurns = 4, kBytes = sizeof m;
  if (threadIdx.x == 32) {
#pragma unroll 1
    for (unsigned turn = 0; turn < kTurns; ++turn) {
      if (kWaitForEmpty && turn > 0) MBARRIER_WAIT(empty, turn - 1 & 1);
      if (!kWaitForEmpty && turn > 0) MBARRIER_WAIT(full, turn - 1 & 1);
      MBARRIER_EXPECT(full, kBytes);
      //! C391 ERROR race-tcgen05 access=write message~umma_arrive
      //! C391 may ERROR race-async-copy
      BULK_LOAD(&m, in, kBytes, full);
    }
  } else if (threadIdx.x == 0) {
#pragma unroll 1
    for (unsigned turn = 0; turn < kTurns; ++turn) {
      MBARRIER_WAIT(full, turn & 1);
      TENSOR_PRODUCT(base, m.a, m.b, turn);  //! C391 ERROR race-tcgen05 access="asynchronous read by tcgen05"
      TENSOR_COMMIT(empty);
    }
    TENSOR_COMMIT(done);
  }
  __syncwarp();
  MBARRIER_WAIT(done, 0);
  TENSOR_AFTER();
  unsigned sum;
  TENSOR_LOAD(sum, own_lanes(base));
  TENSOR_WAIT_LOADS();
  out[threadIdx.x] = sum;
  END(base, 32);
}
#define RUN_RING(kernel)                                                           \
  unsigned *in = cases::zeros<unsigned>(2048), *out = cases::zeros<unsigned>(128); \
  kernel<<<1, 128>>>(in, out);                                                     \
  cudaDeviceSynchronize();                                                         \
  cudaFree(in);                                                                    \
  cudaFree(out)
//! C391 options --gpu b200
CASE(C391, "a stage is copied to again when its copy is complete, not when tcgen05.mma has read it") {
  RUN_RING(ring_of_one_stage<false>);
}
//! C392 options --gpu b200
CASE(C392, "a stage is copied to again behind the wait for the mbarrier of tcgen05.commit") {  //! C392 clean
  RUN_RING(ring_of_one_stage<true>);
}

// Each block of a cluster copies one half of B to both. A stage is empty when the products of both blocks have read it.
template <bool kBothBlocks>
__global__ void __cluster_dims__(2) ring_of_a_cluster(const unsigned* in, unsigned* out) {
  __shared__ Operands m;
  __shared__ unsigned base;
  __shared__ unsigned long long full, empty, done;
  BEGIN(base, done, 32);
  if (threadIdx.x == 0) {
    MBARRIER_INIT(full, 1);
    MBARRIER_INIT(empty, kBothBlocks ? 2 : 1);
    INIT_FENCE();
  }
  __syncwarp();
  CLUSTER_SYNC();
  constexpr unsigned kTurns = 4, kA = sizeof m.a, kB = sizeof m.b;
  if (threadIdx.x == 32) {
#pragma unroll 1
    for (unsigned turn = 0; turn < kTurns; ++turn) {
      if (turn > 0) MBARRIER_WAIT(empty, turn - 1 & 1);
      MBARRIER_EXPECT(full, kA + kB);
      BULK_LOAD(m.a, in, kA, full);
      //! C393 ERROR race-tcgen05 access=write message~"different blocks"
      //! C393 may ERROR race-async-copy
      BULK_LOAD_BOTH(m.b + blockIdx.x * 64, in + 1024, kB / 2, full);
    }
  } else if (threadIdx.x == 0) {
#pragma unroll 1
    for (unsigned turn = 0; turn < kTurns; ++turn) {
      MBARRIER_WAIT(full, turn & 1);
      TENSOR_PRODUCT(base, m.a, m.b, turn);  //! C393 ERROR race-tcgen05 access="asynchronous read by tcgen05"
      if (kBothBlocks)
        TENSOR_COMMIT_BOTH(empty);
      else
        TENSOR_COMMIT(empty);
    }
    TENSOR_COMMIT(done);
  }
  __syncwarp();
  MBARRIER_WAIT(done, 0);
  TENSOR_AFTER();
  unsigned sum;
  TENSOR_LOAD(sum, own_lanes(base));
  TENSOR_WAIT_LOADS();
  out[128 * blockIdx.x + threadIdx.x] = sum;
  TENSOR_BEFORE();
  CLUSTER_SYNC();
  TENSOR_AFTER();
  if (threadIdx.x < 32) TENSOR_FREE(base, 32);
}
#define RUN_CLUSTER(kernel)                                                        \
  unsigned *in = cases::zeros<unsigned>(2048), *out = cases::zeros<unsigned>(256); \
  kernel<<<2, 128>>>(in, out);                                                     \
  cudaDeviceSynchronize();                                                         \
  cudaFree(in);                                                                    \
  cudaFree(out)
//! C393 options --gpu b200
CASE(C393, "a multicast to both blocks of a cluster waits for the tcgen05.commit of its own block only") {
  RUN_CLUSTER(ring_of_a_cluster<false>);
}
//! C394 options --gpu b200
CASE(C394, "a multicast to both blocks waits for a tcgen05.commit.multicast::cluster of both") {  //! C394 clean
  RUN_CLUSTER(ring_of_a_cluster<true>);
}
