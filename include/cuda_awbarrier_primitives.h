// __mbarrier_*: barriers in shared memory (CUDA C++ Programming Guide, "Asynchronous Barrier", "Memory Barrier
// Primitives Interface").
#ifndef _CUDA_AWBARRIER_PRIMITIVES_H_
#define _CUDA_AWBARRIER_PRIMITIVES_H_

#include <stdint.h>

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDACC__)
typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;
#define WG_DEVICE static __device__ __forceinline__
#define WG_SHARED(p) ((unsigned int)__cvta_generic_to_shared(p))
WG_DEVICE uint32_t __mbarrier_maximum_count() {
  return (1u << 20) - 1;
}
WG_DEVICE void __mbarrier_init(__mbarrier_t* barrier, uint32_t expected) {
  __asm__ volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(WG_SHARED(barrier)), "r"(expected) : "memory");
}
WG_DEVICE void __mbarrier_inval(__mbarrier_t* barrier) {
  __asm__ volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(WG_SHARED(barrier)) : "memory");
}
WG_DEVICE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) {
  __mbarrier_token_t token;
  __asm__ volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(WG_SHARED(barrier)) : "memory");
  return token;
}
WG_DEVICE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
  __mbarrier_token_t token;
  __asm__ volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : "r"(WG_SHARED(barrier)) : "memory");
  return token;
}
#define WG_WAIT(name, instruction, state_type, constraint)                                                      \
  WG_DEVICE bool name(__mbarrier_t* barrier, state_type state) {                                                \
    unsigned int done;                                                                                          \
    __asm__ volatile("{ .reg .pred p; mbarrier." instruction ".shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" \
                     : "=r"(done)                                                                               \
                     : "r"(WG_SHARED(barrier)), constraint(state)                                               \
                     : "memory");                                                                               \
    return done != 0;                                                                                           \
  }
WG_WAIT(__mbarrier_test_wait, "test_wait", __mbarrier_token_t, "l")
WG_WAIT(__mbarrier_test_wait_parity, "test_wait.parity", unsigned int, "r")
#undef WG_WAIT
#define WG_WAIT(name, instruction, state_type, constraint)                                                          \
  WG_DEVICE bool name(__mbarrier_t* barrier, state_type state, uint32_t nanoseconds) {                              \
    unsigned int done;                                                                                              \
    __asm__ volatile("{ .reg .pred p; mbarrier." instruction ".shared.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p; }" \
                     : "=r"(done)                                                                                   \
                     : "r"(WG_SHARED(barrier)), constraint(state), "r"(nanoseconds)                                 \
                     : "memory");                                                                                   \
    return done != 0;                                                                                               \
  }
WG_WAIT(__mbarrier_try_wait, "try_wait", __mbarrier_token_t, "l")
WG_WAIT(__mbarrier_try_wait_parity, "try_wait.parity", unsigned int, "r")
#undef WG_WAIT
WG_DEVICE uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) {
  uint32_t pending;
  __asm__("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(token));
  return pending;
}
#undef WG_SHARED
#undef WG_DEVICE
#endif

#endif
