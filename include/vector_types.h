// Vectors of 1 to 4 elements, and dim3 (CUDA C++ Programming Guide, "Built-in Vector Types"). A vector of 2 or 4
// aligns to its size up to 16 bytes, one of 3 like its element; the types of CUDA 13 whose names end in 16a or 32a say
// their alignment.
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#define WG_VECTOR1(type, name) \
  struct name {                \
    type x;                    \
  };                           \
  typedef struct name name;
#define WG_VECTOR2(type, name, alignment)           \
  struct __attribute__((aligned(alignment))) name { \
    type x, y;                                      \
  };                                                \
  typedef struct name name;
#define WG_VECTOR3(type, name) \
  struct name {                \
    type x, y, z;              \
  };                           \
  typedef struct name name;
#define WG_VECTOR4(type, name, alignment)           \
  struct __attribute__((aligned(alignment))) name { \
    type x, y, z, w;                                \
  };                                                \
  typedef struct name name;
#define WG_VECTORS(type, name, align2, align4) \
  WG_VECTOR1(type, name##1)                    \
  WG_VECTOR2(type, name##2, align2)            \
  WG_VECTOR3(type, name##3)                    \
  WG_VECTOR4(type, name##4, align4)

WG_VECTORS(signed char, char, 2, 4)
WG_VECTORS(unsigned char, uchar, 2, 4)
WG_VECTORS(short, short, 4, 8)
WG_VECTORS(unsigned short, ushort, 4, 8)
WG_VECTORS(int, int, 8, 16)
WG_VECTORS(unsigned int, uint, 8, 16)
WG_VECTORS(long int, long, 16, 16)
WG_VECTORS(unsigned long int, ulong, 16, 16)
WG_VECTORS(long long int, longlong, 16, 16)
WG_VECTORS(unsigned long long int, ulonglong, 16, 16)
WG_VECTORS(float, float, 8, 16)
WG_VECTORS(double, double, 16, 16)
#define WG_ALIGNED_VECTORS(type, name) \
  WG_VECTOR4(type, name##4_16a, 16)    \
  WG_VECTOR4(type, name##4_32a, 32)
WG_ALIGNED_VECTORS(long int, long)
WG_ALIGNED_VECTORS(unsigned long int, ulong)
WG_ALIGNED_VECTORS(long long int, longlong)
WG_ALIGNED_VECTORS(unsigned long long int, ulonglong)
WG_ALIGNED_VECTORS(double, double)
#undef WG_ALIGNED_VECTORS
#undef WG_VECTORS
#undef WG_VECTOR1
#undef WG_VECTOR2
#undef WG_VECTOR3
#undef WG_VECTOR4

struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
#if __cplusplus >= 201103L
#define WG_DIM3_CONSTEXPR constexpr
#else
#define WG_DIM3_CONSTEXPR
#endif
  __host__ __device__ WG_DIM3_CONSTEXPR dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ WG_DIM3_CONSTEXPR dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ WG_DIM3_CONSTEXPR operator uint3() const {
    return uint3{x, y, z};
  }
#undef WG_DIM3_CONSTEXPR
#endif
};
typedef struct dim3 dim3;

#endif
