// Part of wrapper.h: loads and stores with cache hints (CUDA C++ Programming Guide, "Load Functions Using Cache
// Hints"). __ldg is clang's, except for types it lacks.
#pragma once

#define WG_DEVICE static __device__ __forceinline__

// ptx_type: PTX type in memory. constraint, reg: asm constraint and C++ type of the register.
#define WG_HINTED_LOAD(name, ptx, type, ptx_type, constraint, reg)                                        \
  WG_DEVICE type name(const type* p) {                                                                    \
    reg v;                                                                                                \
    __asm__ volatile("ld.global." ptx "." ptx_type " %0, [%1];" : "=" constraint(v) : "l"(p) : "memory"); \
    return (type)v;                                                                                       \
  }
#define WG_HINTED_LOAD2(name, ptx, type, ptx_type, constraint, reg)      \
  WG_DEVICE type name(const type* p) {                                   \
    reg x, y;                                                            \
    __asm__ volatile("ld.global." ptx ".v2." ptx_type " {%0, %1}, [%2];" \
                     : "=" constraint(x), "=" constraint(y)              \
                     : "l"(p)                                            \
                     : "memory");                                        \
    type v;                                                              \
    v.x = (decltype(v.x))x, v.y = (decltype(v.y))y;                      \
    return v;                                                            \
  }
#define WG_HINTED_LOAD4(name, ptx, type, ptx_type, constraint, reg)                                 \
  WG_DEVICE type name(const type* p) {                                                              \
    reg x, y, z, w;                                                                                 \
    __asm__ volatile("ld.global." ptx ".v4." ptx_type " {%0, %1, %2, %3}, [%4];"                    \
                     : "=" constraint(x), "=" constraint(y), "=" constraint(z), "=" constraint(w)   \
                     : "l"(p)                                                                       \
                     : "memory");                                                                   \
    type v;                                                                                         \
    v.x = (decltype(v.x))x, v.y = (decltype(v.y))y, v.z = (decltype(v.z))z, v.w = (decltype(v.w))w; \
    return v;                                                                                       \
  }
#define WG_HINTED_STORE(name, ptx, type, ptx_type, constraint, reg)                                       \
  WG_DEVICE void name(type* p, type v) {                                                                  \
    __asm__ volatile("st.global." ptx "." ptx_type " [%0], %1;" ::"l"(p), constraint((reg)v) : "memory"); \
  }
#define WG_HINTED_STORE2(name, ptx, type, ptx_type, constraint, reg)                                     \
  WG_DEVICE void name(type* p, type v) {                                                                 \
    __asm__ volatile("st.global." ptx ".v2." ptx_type " [%0], {%1, %2};" ::"l"(p), constraint((reg)v.x), \
                     constraint((reg)v.y)                                                                \
                     : "memory");                                                                        \
  }
#define WG_HINTED_STORE4(name, ptx, type, ptx_type, constraint, reg)                                             \
  WG_DEVICE void name(type* p, type v) {                                                                         \
    __asm__ volatile("st.global." ptx ".v4." ptx_type " [%0], {%1, %2, %3, %4};" ::"l"(p), constraint((reg)v.x), \
                     constraint((reg)v.y), constraint((reg)v.z), constraint((reg)v.w)                            \
                     : "memory");                                                                                \
  }
#define WG_HINTED_TYPES(kind, name, ptx)                                                                               \
  WG_HINTED_##kind(name, ptx, char, "s8", "r", int) WG_HINTED_##kind(                                                  \
      name, ptx, signed char, "s8", "r", int) WG_HINTED_##kind(name, ptx, unsigned char, "u8", "r", int)               \
      WG_HINTED_##kind(name, ptx, short, "s16", "h", short) WG_HINTED_##kind(                                          \
          name, ptx, unsigned short, "u16", "h", unsigned short) WG_HINTED_##kind(name, ptx, int, "s32", "r", int)     \
          WG_HINTED_##kind(name, ptx, unsigned int, "u32", "r", unsigned int) WG_HINTED_##kind(                        \
              name, ptx, long, "s64", "l", long) WG_HINTED_##kind(name, ptx, unsigned long, "u64", "l", unsigned long) \
              WG_HINTED_##kind(name, ptx, long long, "s64", "l", long long) WG_HINTED_##kind(                          \
                  name, ptx, unsigned long long, "u64", "l", unsigned long long)                                       \
                  WG_HINTED_##kind(name, ptx, float, "f32", "f", float) WG_HINTED_##kind(name, ptx, double, "f64",     \
                                                                                         "d", double)                  \
                      WG_HINTED_##kind##2(name, ptx, char2, "s8", "r", int)WG_HINTED_##kind##2(                        \
                          name, ptx, uchar2, "u8", "r", int)WG_HINTED_##kind##2(name, ptx, short2, "s16", "h", short)  \
                          WG_HINTED_##kind##2(name, ptx, ushort2, "u16", "h", unsigned short)WG_HINTED_##kind##2(      \
                              name, ptx, int2, "s32", "r", int)WG_HINTED_##kind##2(name, ptx, uint2, "u32", "r",       \
                                                                                   unsigned int)                       \
                              WG_HINTED_##kind##2(name, ptx, longlong2, "s64", "l", long long)WG_HINTED_##kind##2(     \
                                  name, ptx, ulonglong2, "u64", "l",                                                   \
                                  unsigned long long)WG_HINTED_##kind##2(name, ptx, float2, "f32", "f", float)         \
                                  WG_HINTED_##kind##2(name, ptx, double2, "f64", "d", double)WG_HINTED_##kind##4(      \
                                      name, ptx, char4, "s8", "r", int)WG_HINTED_##kind##4(name, ptx, uchar4, "u8",    \
                                                                                           "r", int)                   \
                                      WG_HINTED_##kind##4(name, ptx, short4, "s16", "h", short)WG_HINTED_##kind##4(    \
                                          name, ptx, ushort4, "u16", "h", unsigned short)                              \
                                          WG_HINTED_##kind##4(name, ptx, int4, "s32", "r", int)WG_HINTED_##kind##4(    \
                                              name, ptx, uint4, "u32", "r",                                            \
                                              unsigned int)WG_HINTED_##kind##4(name, ptx, float4, "f32", "f", float)
WG_HINTED_TYPES(LOAD, __ldca, "ca")
WG_HINTED_TYPES(LOAD, __ldcg, "cg")
WG_HINTED_TYPES(LOAD, __ldcs, "cs")
WG_HINTED_TYPES(LOAD, __ldlu, "lu")
WG_HINTED_TYPES(LOAD, __ldcv, "cv")
WG_HINTED_TYPES(STORE, __stwb, "wb")
WG_HINTED_TYPES(STORE, __stcg, "cg")
WG_HINTED_TYPES(STORE, __stcs, "cs")
WG_HINTED_TYPES(STORE, __stwt, "wt")
#undef WG_HINTED_TYPES
#undef WG_HINTED_LOAD
#undef WG_HINTED_LOAD2
#undef WG_HINTED_LOAD4
#undef WG_HINTED_STORE
#undef WG_HINTED_STORE2
#undef WG_HINTED_STORE4
#undef WG_DEVICE
