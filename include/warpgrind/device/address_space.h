// Part of wrapper.h: state space of an address (CUDA C++ Programming Guide, "Address Space Predicate Functions" and
// "Address Space Conversion Functions").
#pragma once

#define WG_PURE static __device__ __forceinline__ __attribute__((const))
#define WG_SPACE(Name, name, number)               \
  WG_PURE unsigned int __is##Name(const void* p) { \
    return __nvvm_isspacep_##name(p);              \
  }
WG_SPACE(Global, global, 1)
WG_SPACE(Shared, shared, 3)
WG_SPACE(Constant, const, 4)
WG_SPACE(Local, local, 5)
#undef WG_SPACE
// Parameters lie in constant memory.
WG_PURE unsigned int __isGridConstant(const void* p) {
  unsigned int yes;
  __asm__("{ .reg .pred p; isspacep.param p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(yes) : "l"(p));
  return yes;
}

#define WG_CONVERT(name, number)                                    \
  WG_PURE size_t __cvta_generic_to_##name(const void* p) {          \
    return (size_t)(void __attribute__((address_space(number)))*)p; \
  }                                                                 \
  WG_PURE void* __cvta_##name##_to_generic(size_t p) {              \
    return (void*)(void __attribute__((address_space(number)))*)p;  \
  }
WG_CONVERT(global, 1)
WG_CONVERT(shared, 3)
WG_CONVERT(constant, 4)
WG_CONVERT(local, 5)
#undef WG_CONVERT
WG_PURE size_t __cvta_generic_to_grid_constant(const void* p) {
  size_t offset;
  __asm__("cvta.to.param.u64 %0, %1;" : "=l"(offset) : "l"(p));
  return offset;
}
WG_PURE void* __cvta_grid_constant_to_generic(size_t offset) {
  void* p;
  __asm__("cvta.param.u64 %0, %1;" : "=l"(p) : "l"(offset));
  return p;
}
#undef WG_PURE
