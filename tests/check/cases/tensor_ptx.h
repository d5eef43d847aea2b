// Instructions of tensor memory (tcgen05) for the cases. Macros, so that each is on the line of the kernel. Sums are
// floats; A has 128 rows and B 16 columns of 16 halves, so that D takes 16 columns of tensor memory.
#pragma once

#include "async_ptx.h"

// clang-format off
#define TENSOR_ALLOC(to, columns)                                                                                     \
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(&(to))), \
               "r"(columns)                                                                                           \
               : "memory")
#define TENSOR_FREE(base, columns) \
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(base), "r"(columns) : "memory")
#define TENSOR_GIVE_UP() asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory")
#define TENSOR_LOAD(to, address) \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(to) : "r"(address) : "memory")
#define TENSOR_STORE(address, value) \
  asm volatile("tcgen05.st.sync.aligned.32x32b.x16.b32 [%0], {%1,%1,%1,%1,%1,%1,%1,%1,%1,%1,%1,%1,%1,%1,%1,%1};" ::"r"(address), "r"(value) : "memory")
#define TENSOR_WAIT_LOADS() asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory")
#define TENSOR_WAIT_STORES() asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory")
#define TENSOR_BEFORE() asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory")
#define TENSOR_AFTER() asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory")
#define TENSOR_COMMIT(bar)                                                                              \
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"( \
                   shared_address(&(bar)))                                                              \
               : "memory")
#define TENSOR_PRODUCT(d, a, b, add)                                                                              \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" \
               ::"r"(d), "l"(tensor_matrix(a)), "l"(tensor_matrix(b)), "r"(kProduct), "r"(add)                    \
               : "memory")
#define TENSOR_COPY(to, from) \
  asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" ::"r"(to), "l"(tensor_matrix(from)) : "memory")
#define TENSOR_ALLOC_PAIR(to, columns)                                                                                \
  asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(&(to))), \
               "r"(columns)                                                                                           \
               : "memory")
#define TENSOR_FREE_PAIR(base, columns) \
  asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(base), "r"(columns) : "memory")
#define TENSOR_COPY_PAIR(to, from) \
  asm volatile("tcgen05.cp.cta_group::2.128x256b [%0], %1;" ::"r"(to), "l"(tensor_matrix(from)) : "memory")
#define TRY_CANCEL(response, bar)                                                                                \
  asm volatile(                                                                                                  \
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(   \
          shared_address(response)),                                                                             \
      "r"(shared_address(&(bar)))                                                                                \
      : "memory")

#define TENSOR_COMMIT_PAIR(bar)                                                                         \
  asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"( \
                   shared_address(&(bar)))                                                              \
               : "memory")
#define TENSOR_COMMIT_BOTH(bar)                                                                               \
  asm volatile(                                                                                               \
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" :: \
          "r"(shared_address(&(bar))),                                                                        \
      "h"(static_cast<unsigned short>(3))                                                                     \
      : "memory")
#define BULK_LOAD_BOTH(to, from, bytes, bar)                                                                          \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2," \
               " [%3], %4;" ::"r"(shared_address(to)),                                                               \
               "l"(from), "r"(bytes), "r"(shared_address(&(bar))), "h"(static_cast<unsigned short>(3))               \
               : "memory")
// clang-format on

// Instruction descriptor: sums of floats, matrices of halves, N = 16, M = 128.
constexpr unsigned kProduct = 1u << 4 | 16u / 8 << 17 | 128u / 16 << 24;

// As matrix(), with the version that tcgen05 wants.
static __device__ __forceinline__ unsigned long long tensor_matrix(const void* data) {
  return matrix(data) | 1ull << 46;
}
// Address of a warp's own lanes.
static __device__ __forceinline__ unsigned own_lanes(unsigned base) {
  return base + (threadIdx.x / 32 % 4 << 21);
}
