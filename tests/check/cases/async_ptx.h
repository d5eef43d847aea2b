// Instructions of the asynchronous machinery for the cases: mbarriers, bulk copies, fences between proxies, clusters,
// wgmma. Macros, so that each is on the line of the kernel.
#pragma once

#include "cases.h"

// clang-format off
#define MBARRIER_INIT(bar, count) \
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&(bar))), "r"(count) : "memory")
#define MBARRIER_INVALIDATE(bar) \
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared_address(&(bar))) : "memory")
#define MBARRIER_ARRIVE(bar) \
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(&(bar))) : "memory")
#define MBARRIER_EXPECT(bar, bytes)                                                                                    \
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&(bar))), "r"(bytes) : "memory")
#define MBARRIER_WAIT(bar, parity)                                \
  asm volatile(                                                   \
      "{ .reg .pred p;\n"                                         \
      "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n" \
      "@!p bra again; }" ::"r"(shared_address(&(bar))),           \
      "r"(parity)                                                 \
      : "memory")
// A wait that gives up, so that the program ends.
#define MBARRIER_POLL(bar, parity)                                                                        \
  for (int polls = 0, done = 0; polls < 4 && !done; ++polls)                                              \
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" \
               : "=r"(done)                                                                               \
               : "r"(shared_address(&(bar))), "r"(parity)                                                 \
               : "memory")

#define BULK_LOAD(to, from, bytes, bar)                                                                         \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"( \
                   shared_address(to)),                                                                         \
               "l"(from), "r"(bytes), "r"(shared_address(&(bar)))                                               \
               : "memory")
#define BULK_STORE(to, from, bytes)                                                                                \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), \
               "r"(bytes)                                                                                          \
               : "memory")
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT(groups) asm volatile("cp.async.bulk.wait_group %0;" ::"n"(groups) : "memory")
#define BULK_WAIT_READ(groups) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory")
#define PROXY_FENCE(of) asm volatile("fence.proxy.async" of ";" ::: "memory")
#define INIT_FENCE() asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory")

#define CLUSTER_ARRIVE(order) asm volatile("barrier.cluster.arrive" order ".aligned;" ::: "memory")
#define CLUSTER_WAIT() asm volatile("barrier.cluster.wait.aligned;" ::: "memory")
#define CLUSTER_SYNC() asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory")

// Address of another block's copy of a shared variable.
static __device__ __forceinline__ unsigned of_block(const void* data, unsigned rank) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(data)), "r"(rank));
  return there;
}

// wgmma m64n8k16: D (64 x 8, four registers a thread) += A (64 x 16) * B (16 x 8), halves.
#define PRODUCT_FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define PRODUCT_COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define PRODUCT_WAIT(groups) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory")
#define PRODUCT(d, a, b)                                                                                 \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                          \
               : "l"(matrix(a)), "l"(matrix(b)))
#define PRODUCT_OF_REGISTERS(d, a, b)                                                                            \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                  \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(matrix(b)))

// clang-format on

// Descriptor of a matrix without swizzling: core matrices of 8 rows of 16 bytes, 128 bytes apart along the depth, 256
// along the rows.
static __device__ __forceinline__ unsigned long long matrix(const void* data) {
  return (shared_address(data) & 0x3ffffu) >> 4 | 8ull << 16 | 16ull << 32;
}
