// The same machinery through libcu++: cuda::ptx and cuda::barrier. Only where its headers are (NVIDIA's toolkit).
#include "cases.h"

#if __has_include(<cuda/ptx>)
#include <cuda/barrier>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

template <bool kFence>
__global__ void loaded_changed_stored(const int* in, int* out) {
  __shared__ alignas(16) int s[64];
  __shared__ std::uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (t == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, 256);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in, 256, &full);
  }
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
  }
  s[t] += 1;  //! C291 ERROR race-proxy access=write message~fence_proxy_async(space_shared)
  if (kFence) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, s, 256);  //! C291 ERROR race-proxy
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
  }
}
CASE(C291, "cuda::ptx: bulk load, change, bulk store without fence_proxy_async()") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  loaded_changed_stored<false><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C292, "cuda::ptx: bulk load, change, fence_proxy_async(), bulk store") {  //! C292 clean
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  loaded_changed_stored<true><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

template <bool kRead>
__global__ void store_of_each_turn(int* out) {
  __shared__ alignas(16) int s[64];
  const int t = threadIdx.x;
#pragma unroll 1
  for (int turn = 0; turn < 2; ++turn) {
    s[t] = turn;  //! C293 ERROR race-async-copy access=write message~"cp_async_bulk_wait_group_read(n32_t<0>{})"
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
      //! C293 ERROR race-async-copy access="asynchronous read"
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + 64 * turn, s, 256);
      ptx::cp_async_bulk_commit_group();
      if (kRead) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
    __syncthreads();
  }
  if (t == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}
CASE(C293, "cuda::ptx: the source of a bulk store is reused without cp_async_bulk_wait_group_read()") {
  int* out = cases::zeros<int>(128);
  store_of_each_turn<false><<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C294, "cuda::ptx: the source of a bulk store is reused behind cp_async_bulk_wait_group_read()") {  //! C294 clean
  int* out = cases::zeros<int>(128);
  store_of_each_turn<true><<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

template <bool kWait>
__global__ void token_of_barrier(const int* in, int* out) {
  __shared__ alignas(16) int s[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> full;
  const int t = threadIdx.x;
  if (t == 0) init(&full, blockDim.x);
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token token;
  if (t == 0) {
    //! C295 ERROR race-async-copy access="asynchronous write"
    cuda::device::memcpy_async_tx(s, in, cuda::aligned_size_t<16>(256), full);
    token = cuda::device::barrier_arrive_tx(full, 1, 256);
  } else {
    token = full.arrive();
  }
  if (kWait) full.wait(std::move(token));
  out[t] = s[63 - t];  //! C295 ERROR race-async-copy access=read message~"a wait for the copy's mbarrier"
  if (!kWait) full.wait(std::move(token));
}
CASE(C295, "cuda::barrier: what memcpy_async_tx() copies is read before wait()") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  token_of_barrier<false><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C296, "cuda::barrier: what memcpy_async_tx() copies is read behind wait()") {  //! C296 clean
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  token_of_barrier<true><<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
#endif
