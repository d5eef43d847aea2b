// __pipeline_memcpy_async and its like (CUDA C++ Programming Guide, "Pipeline Primitives Interface").
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include "cuda_awbarrier_primitives.h"

#if defined(__cplusplus) && defined(__CUDACC__)
#define WG_DEVICE static __device__ __forceinline__
// 4, 8 or 16 bytes from global to shared memory; the last `zero_bytes` of them are zeroes instead.
WG_DEVICE void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zero_bytes = 0) {
  const unsigned int shared = (unsigned int)__cvta_generic_to_shared(to), take = (unsigned int)(bytes - zero_bytes);
  const size_t global = __cvta_generic_to_global(from);
  if (bytes == 16)
    __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(take) : "memory");
  else if (bytes == 8)
    __asm__ volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared), "l"(global), "r"(take) : "memory");
  else
    __asm__ volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(global), "r"(take) : "memory");
}
WG_DEVICE void __pipeline_commit() {
  __asm__ volatile("cp.async.commit_group;" ::: "memory");
}
// All groups but the last `prior` are done.
WG_DEVICE void __pipeline_wait_prior(size_t prior) {
#define WG_WAIT(n)                                                \
  case n:                                                         \
    __asm__ volatile("cp.async.wait_group " #n ";" ::: "memory"); \
    break;
  switch (prior) {
    WG_WAIT(1)
    WG_WAIT(2)
    WG_WAIT(3)
    WG_WAIT(4)
    WG_WAIT(5)
    WG_WAIT(6)
    WG_WAIT(7)
    WG_WAIT(8)
    default:
      __asm__ volatile("cp.async.wait_all;" ::: "memory");
  }
#undef WG_WAIT
}
WG_DEVICE void __pipeline_arrive_on(__mbarrier_t* barrier) {
  __asm__ volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"((unsigned int)__cvta_generic_to_shared(barrier))
                   : "memory");
}
#undef WG_DEVICE
#endif

#endif
