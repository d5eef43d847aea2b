// wgmma: its matrices in shared memory and its registers. Needs compute capability 9.0a. Each bug stands beside its
// twin, which is right. Each block is a warpgroup of 128 threads, and multiplies matrices of zeroes.
#include "async_ptx.h"
#include "cases.h"

struct Matrices {
  alignas(128) unsigned a[64 * 16 / 2];
  alignas(128) unsigned b[8 * 16 / 2];
};

#define FILL(m)                                                      \
  for (int i = threadIdx.x; i < 64 * 16 / 2; i += 128) (m).a[i] = 0; \
  if (threadIdx.x < 8 * 16 / 2) (m).b[threadIdx.x] = 0

__device__ __forceinline__ void store(float* out, const float* d) {
  for (int k = 0; k < 4; ++k) out[threadIdx.x * 4 + k] = d[k];  //! C275 any
}

template <bool kFence>
__global__ void matrices_not_fenced(float* out) {
  __shared__ Matrices m;
  FILL(m);  //! C263 ERROR race-proxy access=write message~fence.proxy.async
  if (kFence) PROXY_FENCE(".shared::cta");
  __syncthreads();
  float d[4] = {};
  PRODUCT_FENCE();
  //! C263 ERROR race-proxy access=wgmma message~"wgmma uses the async proxy" message~fence_view_async_shared
  PRODUCT(d, m.a, m.b);
  PRODUCT_COMMIT();
  PRODUCT_WAIT(0);
  store(out, d);
}
CASE(C263, "matrices of wgmma are written by plain stores, without fence.proxy.async") {
  float* out = cases::zeros<float>(512);
  matrices_not_fenced<false><<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C264, "matrices of wgmma are written by plain stores, fence.proxy.async, barrier") {  //! C264 clean
  float* out = cases::zeros<float>(512);
  matrices_not_fenced<true><<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// The next matrices, in a loop.
template <bool kWaitFirst>
__global__ void matrices_rewritten(float* out) {
  __shared__ Matrices m;
  float d[4] = {};
#pragma unroll 1
  for (int turn = 0; turn < 3; ++turn) {
    FILL(m);  //! C265 ERROR race-wgmma access=write
    PROXY_FENCE(".shared::cta");
    __syncthreads();
    PRODUCT_FENCE();
    //! C265 ERROR race-wgmma access=wgmma message~"wgmma.wait_group before the barrier" message~"warpgroup_wait<0>()"
    PRODUCT(d, m.a, m.b);
    PRODUCT_COMMIT();
    if (kWaitFirst) PRODUCT_WAIT(0);
    __syncthreads();
  }
  PRODUCT_WAIT(0);
  store(out, d);
}
CASE(C265, "matrices of wgmma are overwritten behind a barrier, before wgmma.wait_group") {
  float* out = cases::zeros<float>(512);
  matrices_rewritten<false><<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C266, "matrices of wgmma are overwritten behind wgmma.wait_group and a barrier") {  //! C266 clean
  float* out = cases::zeros<float>(512);
  matrices_rewritten<true><<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

template <bool kWaitFirst>
__global__ void accumulators_read(float* out) {
  __shared__ Matrices m;
  FILL(m);
  PROXY_FENCE(".shared::cta");
  __syncthreads();
  float d[4] = {};
  PRODUCT_FENCE();
  PRODUCT(d, m.a, m.b);  //! C267 ERROR wgmma-registers access=wgmma message~"wgmma.wait_group between"
  PRODUCT_COMMIT();
  if (kWaitFirst) PRODUCT_WAIT(0);
  //! C267 ERROR wgmma-registers access=read message~"is read before the product is complete"
  const float sum = d[0] + d[1];
  asm volatile("" ::"f"(sum));
  if (!kWaitFirst) PRODUCT_WAIT(0);
  store(out, d);
  out[threadIdx.x * 4] += sum;
}
CASE(C267, "accumulators of wgmma are read before wgmma.wait_group") {
  float* out = cases::zeros<float>(512);
  accumulators_read<false><<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C268, "accumulators of wgmma are read behind wgmma.wait_group") {  //! C268 clean
  float* out = cases::zeros<float>(512);
  accumulators_read<true><<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

template <bool kFence>
__global__ void first_product(float* out) {
  __shared__ Matrices m;
  FILL(m);
  PROXY_FENCE(".shared::cta");
  __syncthreads();
  float d[4] = {};
  if (kFence) PRODUCT_FENCE();
  //! C269 ERROR wgmma-fence message~"wgmma.fence before the first product" message~warpgroup_arrive()
  PRODUCT(d, m.a, m.b);
  PRODUCT_COMMIT();
  PRODUCT_WAIT(0);
  store(out, d);
}
CASE(C269, "the first wgmma without wgmma.fence") {
  float* out = cases::zeros<float>(512);
  first_product<false><<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C270, "wgmma.fence before the first wgmma") {  //! C270 clean
  float* out = cases::zeros<float>(512);
  first_product<true><<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// The accumulators are scaled between two products.
template <bool kFence>
__global__ void accumulators_scaled(float* out, float factor) {
  __shared__ Matrices m;
  FILL(m);
  PROXY_FENCE(".shared::cta");
  __syncthreads();
  float d[4] = {};
  PRODUCT_FENCE();
  PRODUCT(d, m.a, m.b);
  PRODUCT_COMMIT();
  PRODUCT_WAIT(0);
  for (int k = 0; k < 4; ++k) d[k] *= factor;  //! C271 ERROR wgmma-fence access="write of a register"
  for (int k = 0; k < 4; ++k) asm volatile("" : "+f"(d[k])::"memory");  // CUTLASS: warpgroup_fence_operand
  if (kFence) PRODUCT_FENCE();
  PRODUCT(d, m.a, m.b);  //! C271 ERROR wgmma-fence message~"written after the last wgmma.fence"
  PRODUCT_COMMIT();
  PRODUCT_WAIT(0);
  store(out, d);
}
CASE(C271, "accumulators are scaled between two wgmma without wgmma.fence") {
  float* out = cases::zeros<float>(512);
  accumulators_scaled<false><<<1, 128>>>(out, 0.5f);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C272, "accumulators are scaled between two wgmma, then wgmma.fence") {  //! C272 clean
  float* out = cases::zeros<float>(512);
  accumulators_scaled<true><<<1, 128>>>(out, 0.5f);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// A is in registers, and those of the next turn are computed while the product may still read them.
template <bool kWaitFirst>
__global__ void registers_of_a(float* out, unsigned step) {
  __shared__ Matrices m;
  FILL(m);
  PROXY_FENCE(".shared::cta");
  __syncthreads();
  float d[4] = {};
  unsigned a[4] = {step, step, step, step};
#pragma unroll 1
  for (int turn = 0; turn < 3; ++turn) {
    PRODUCT_FENCE();
    PRODUCT_OF_REGISTERS(d, a, m.b);  //! C273 ERROR wgmma-registers access=wgmma
    PRODUCT_COMMIT();
    if (kWaitFirst) PRODUCT_WAIT(0);
    //! C273 ERROR wgmma-registers access="write of a register" message~"is written before the product is complete"
    for (int k = 0; k < 4; ++k) asm volatile("xor.b32 %0, %0, %1;" : "+r"(a[k]) : "r"(step));
  }
  PRODUCT_WAIT(0);
  store(out, d);
}
CASE(C273, "registers of A are overwritten before wgmma.wait_group") {
  float* out = cases::zeros<float>(512);
  registers_of_a<false><<<1, 128>>>(out, 0);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C274, "registers of A are overwritten behind wgmma.wait_group") {  //! C274 clean
  float* out = cases::zeros<float>(512);
  registers_of_a<true><<<1, 128>>>(out, 0);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// A group that is not committed is not waited for.
template <bool kCommit>
__global__ void not_committed(float* out) {
  __shared__ Matrices m;
  FILL(m);
  PROXY_FENCE(".shared::cta");
  __syncthreads();
  float d[4] = {};
  PRODUCT_FENCE();
  PRODUCT(d, m.a, m.b);  //! C275 ERROR wgmma-registers access=wgmma
  if (kCommit) PRODUCT_COMMIT();
  PRODUCT_WAIT(0);
  store(out, d);  //! C275 ERROR wgmma-registers access=read message~"wgmma.commit_group"
  if (!kCommit) PRODUCT_COMMIT();
  PRODUCT_WAIT(0);
}
CASE(C275, "wgmma.wait_group without wgmma.commit_group before it") {
  float* out = cases::zeros<float>(512);
  not_committed<false><<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C276, "wgmma.commit_group, then wgmma.wait_group") {  //! C276 clean
  float* out = cases::zeros<float>(512);
  not_committed<true><<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

template <bool kWait>
__global__ void matrices_not_waited_for(const unsigned* in, float* out) {
  __shared__ Matrices m;
  __shared__ unsigned long long full;
  if (threadIdx.x == 0) MBARRIER_INIT(full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    MBARRIER_EXPECT(full, 2048 + 256);
    BULK_LOAD(m.a, in, 2048, full);       //! C277 ERROR race-async-copy access="asynchronous write"
    BULK_LOAD(m.b, in + 512, 256, full);  //! C277 any
  }
  if (kWait) MBARRIER_WAIT(full, 0);
  float d[4] = {};
  PRODUCT_FENCE();
  //! C277 ERROR race-async-copy access=wgmma message~"a wait for the copy's mbarrier"
  PRODUCT(d, m.a, m.b);
  PRODUCT_COMMIT();
  PRODUCT_WAIT(0);
  MBARRIER_WAIT(full, 0);
  store(out, d);
}
CASE(C277, "wgmma reads matrices of bulk loads without a wait at their mbarrier") {
  unsigned* in = cases::zeros<unsigned>(640);
  float* out = cases::zeros<float>(512);
  matrices_not_waited_for<false><<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C278, "wgmma reads matrices of bulk loads behind the wait at their mbarrier") {  //! C278 clean
  unsigned* in = cases::zeros<unsigned>(640);
  float* out = cases::zeros<float>(512);
  matrices_not_waited_for<true><<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// A warp that loads and a warpgroup that multiplies: the buffer is given back before or behind the wait. kOne: one
// thread arrives for its warpgroup, as in CUTLASS.
template <bool kWaitFirst, bool kOne = false>
__global__ void buffer_given_back(const unsigned* in, float* out) {
  __shared__ Matrices m;
  __shared__ unsigned long long full, empty;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(full, 1);
    MBARRIER_INIT(empty, kOne ? 1 : 128);
  }
  __syncthreads();
  if (threadIdx.x == 128) {
#pragma unroll 1
    for (int turn = 0; turn < 4; ++turn) {
      MBARRIER_WAIT(empty, (turn & 1) ^ 1);
      MBARRIER_EXPECT(full, 2048 + 256);
      BULK_LOAD(m.a, in, 2048, full);       //! C279 C297 ERROR race-wgmma access="asynchronous write"
      BULK_LOAD(m.b, in + 512, 256, full);  //! C279 C297 any
    }
  } else if (threadIdx.x < 128) {
    float d[4] = {};
#pragma unroll 1
    for (int turn = 0; turn < 4; ++turn) {
      MBARRIER_WAIT(full, turn & 1);
      PRODUCT_FENCE();
      PRODUCT(d, m.a, m.b);  //! C279 C297 ERROR race-wgmma access=wgmma message~wgmma.wait_group
      PRODUCT_COMMIT();
      if (kWaitFirst) PRODUCT_WAIT(0);
      if (!kOne || threadIdx.x == 0) MBARRIER_ARRIVE(empty);
    }
    PRODUCT_WAIT(0);
    store(out, d);
  }
}
CASE(C279, "the buffer of wgmma is given back to the loading warp before wgmma.wait_group") {
  unsigned* in = cases::zeros<unsigned>(640);
  float* out = cases::zeros<float>(512);
  buffer_given_back<false><<<1, 160>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C280, "the buffer of wgmma is given back to the loading warp behind wgmma.wait_group") {  //! C280 clean
  unsigned* in = cases::zeros<unsigned>(640);
  float* out = cases::zeros<float>(512);
  buffer_given_back<true><<<1, 160>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

CASE(C297, "one thread gives the buffer of wgmma back for its warpgroup, before wgmma.wait_group") {
  unsigned* in = cases::zeros<unsigned>(640);
  float* out = cases::zeros<float>(512);
  buffer_given_back<false, true><<<1, 160>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C298, "one thread gives the buffer of wgmma back for its warpgroup, behind wgmma.wait_group") {  //! C298 clean
  unsigned* in = cases::zeros<unsigned>(640);
  float* out = cases::zeros<float>(512);
  buffer_given_back<true, true><<<1, 160>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// Two stages: the product of the last turn may still be pending.
template <int kPending>
__global__ void two_stages(const unsigned* in, float* out) {
  __shared__ Matrices m[2];
  __shared__ unsigned long long full[2];
  if (threadIdx.x == 0)
    for (int k = 0; k < 2; ++k) MBARRIER_INIT(full[k], 1);
  __syncthreads();
  float d[4] = {};
#pragma unroll 1
  for (int turn = 0; turn < 4; ++turn) {
    Matrices& stage = m[turn % 2];
    if (threadIdx.x == 0) {
      MBARRIER_EXPECT(full[turn % 2], 2048 + 256);
      BULK_LOAD(stage.a, in, 2048, full[turn % 2]);       //! C281 ERROR race-wgmma access="asynchronous write"
      BULK_LOAD(stage.b, in + 512, 256, full[turn % 2]);  //! C281 any
    }
    MBARRIER_WAIT(full[turn % 2], turn / 2);
    PRODUCT_FENCE();
    PRODUCT(d, stage.a, stage.b);  //! C281 ERROR race-wgmma access=wgmma message~wgmma.wait_group
    PRODUCT_COMMIT();
    PRODUCT_WAIT(kPending);
    __syncthreads();
  }
  PRODUCT_WAIT(0);
  store(out, d);
}
CASE(C281, "two stages of wgmma with wgmma.wait_group 2 instead of 1") {
  unsigned* in = cases::zeros<unsigned>(640);
  float* out = cases::zeros<float>(512);
  two_stages<2><<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C282, "two stages of wgmma with wgmma.wait_group 1") {  //! C282 clean
  unsigned* in = cases::zeros<unsigned>(640);
  float* out = cases::zeros<float>(512);
  two_stages<1><<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// A warp runs ahead of its warpgroup: wgmma.fence orders what its own warp has accessed, and a barrier the others. Each
// warp reads all of B and its own 16 rows of A.
template <bool kOwnRows>
__global__ void written_by_one_warp(float* out) {
  __shared__ Matrices m;
  FILL(m);
  PROXY_FENCE(".shared::cta");
  __syncthreads();
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (kOwnRows) {
    for (unsigned i = lane; i < 16 * 16 / 2; i += 32) m.a[warp * 128 + i] = 0;
  } else if (warp == 3) {
    m.b[lane] = 0;  //! C368 ERROR race-wgmma access=write
  }
  PROXY_FENCE(".shared::cta");
  __syncwarp();
  float d[4] = {};
  PRODUCT_FENCE();
  PRODUCT(d, m.a, m.b);  //! C368 ERROR race-wgmma access=wgmma
  PRODUCT_COMMIT();
  PRODUCT_WAIT(0);
  store(out, d);
}
CASE(C368, "one warp writes B for its warpgroup, fence.proxy.async and wgmma.fence without a barrier") {
  float* out = cases::zeros<float>(512);
  written_by_one_warp<false><<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C369, "each warp writes its own rows of A, fence.proxy.async, __syncwarp() and wgmma.fence") {  //! C369 clean
  float* out = cases::zeros<float>(512);
  written_by_one_warp<true><<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
