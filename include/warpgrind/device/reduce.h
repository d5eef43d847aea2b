// Part of wrapper.h: reductions over a warp (CUDA C++ Programming Guide, "Warp Reduce Functions").
#pragma once

#define WG_REDUCE(name, type, builtin)                                                       \
  static __device__ __forceinline__ type __reduce_##name##_sync(unsigned int mask, type v) { \
    return (type)builtin((int)v, (int)mask);                                                 \
  }
WG_REDUCE(add, unsigned int, __nvvm_redux_sync_add)
WG_REDUCE(add, int, __nvvm_redux_sync_add)
WG_REDUCE(min, unsigned int, __nvvm_redux_sync_umin)
WG_REDUCE(min, int, __nvvm_redux_sync_min)
WG_REDUCE(max, unsigned int, __nvvm_redux_sync_umax)
WG_REDUCE(max, int, __nvvm_redux_sync_max)
WG_REDUCE(and, unsigned int, __nvvm_redux_sync_and)
WG_REDUCE(or, unsigned int, __nvvm_redux_sync_or)
WG_REDUCE(xor, unsigned int, __nvvm_redux_sync_xor)
#undef WG_REDUCE
