// make_int2(...) and so on, for each type of vector_types.h.
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define WG_MAKE static __inline__ __host__ __device__ __attribute__((unused))
#define WG_MAKE4(type, name)                                 \
  WG_MAKE name make_##name(type x, type y, type z, type w) { \
    name v;                                                  \
    v.x = x, v.y = y, v.z = z, v.w = w;                      \
    return v;                                                \
  }
#define WG_MAKE_VECTORS(type, name)                        \
  WG_MAKE name##1 make_##name##1(type x) {                 \
    name##1 v;                                             \
    v.x = x;                                               \
    return v;                                              \
  }                                                        \
  WG_MAKE name##2 make_##name##2(type x, type y) {         \
    name##2 v;                                             \
    v.x = x, v.y = y;                                      \
    return v;                                              \
  }                                                        \
  WG_MAKE name##3 make_##name##3(type x, type y, type z) { \
    name##3 v;                                             \
    v.x = x, v.y = y, v.z = z;                             \
    return v;                                              \
  }                                                        \
  WG_MAKE4(type, name##4)
WG_MAKE_VECTORS(signed char, char)
WG_MAKE_VECTORS(unsigned char, uchar)
WG_MAKE_VECTORS(short, short)
WG_MAKE_VECTORS(unsigned short, ushort)
WG_MAKE_VECTORS(int, int)
WG_MAKE_VECTORS(unsigned int, uint)
WG_MAKE_VECTORS(long int, long)
WG_MAKE_VECTORS(unsigned long int, ulong)
WG_MAKE_VECTORS(long long int, longlong)
WG_MAKE_VECTORS(unsigned long long int, ulonglong)
WG_MAKE_VECTORS(float, float)
WG_MAKE_VECTORS(double, double)
#define WG_MAKE_ALIGNED(type, name) WG_MAKE4(type, name##4_16a) WG_MAKE4(type, name##4_32a)
WG_MAKE_ALIGNED(long int, long)
WG_MAKE_ALIGNED(unsigned long int, ulong)
WG_MAKE_ALIGNED(long long int, longlong)
WG_MAKE_ALIGNED(unsigned long long int, ulonglong)
WG_MAKE_ALIGNED(double, double)
#undef WG_MAKE_ALIGNED
#undef WG_MAKE_VECTORS
#undef WG_MAKE4
#undef WG_MAKE

#endif
