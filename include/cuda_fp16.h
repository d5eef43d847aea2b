// half and half2: 16-bit floating point as IEEE 754 binary16 (CUDA Math API, "Half Precision Intrinsics").
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__
#define __CUDA_FP16_HPP__
#define __CUDA_FP16_TYPES_EXIST__
#define __CUDA_HALF_TYPES_EXIST__

#include "host_defines.h"
#include "vector_functions.h"
#include "vector_types.h"

#ifdef __cplusplus
namespace wg_half {
static __host__ __device__ __inline__ float wg_to_float(unsigned short h) {
  const unsigned int sign = (unsigned int)(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
  float f;
  unsigned int bits;
  if (exponent == 0) {
    f = (float)mantissa * 0x1p-24f;  // a subnormal of half is a normal of float
    __builtin_memcpy(&bits, &f, 4);
    bits |= sign;
  } else {
    bits = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | mantissa << 13;
  }
  __builtin_memcpy(&f, &bits, 4);
  return f;
}
// rounding: 0 nearest even, 1 to zero, 2 down, 3 up
static __host__ __device__ __inline__ unsigned short wg_from_float(float f, int rounding) {
  unsigned int bits;
  __builtin_memcpy(&bits, &f, 4);
  const unsigned int sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude == 0x7f800000u) return (unsigned short)(sign | 0x7c00);
  const bool away = rounding == 2 ? sign != 0 : rounding == 3 ? sign == 0 : false;
  const int exponent = (int)(magnitude >> 23) - 112;
  unsigned int mantissa = (magnitude & 0x7fffff) | 0x800000, shift = 13, result;
  if (exponent >= 31) return (unsigned short)(sign | (rounding == 0 || away ? 0x7c00 : 0x7bff));
  if (exponent <= 0) {  // a subnormal of half; of float, nothing is left but its last bit
    shift = exponent < -11 ? 25 : 14 - exponent;
    if (exponent < -11) mantissa = magnitude ? 1 : 0;
    result = mantissa >> shift;
  } else {
    result = ((unsigned int)exponent << 10) + ((mantissa >> shift) & 0x3ff);
  }
  const unsigned int rest = mantissa & ((1u << shift) - 1), half = 1u << (shift - 1);
  if (rounding == 0 ? rest > half || (rest == half && (result & 1)) : away && rest) result++;
  return (unsigned short)(sign | result);
}
}  // namespace wg_half

struct __nv_bfloat16;
#define WG_OTHER __nv_bfloat16
#define WG_T __half
#define WG_T2 __half2
#define WG_RAW __half_raw
#define WG_RAW2 __half2_raw
#define WG_N half
#define WG_PTX "f16"
#define WG_SPACE wg_half
#include "warpgrind/narrow_float.inc"
#undef WG_OTHER
#undef WG_T
#undef WG_T2
#undef WG_RAW
#undef WG_RAW2
#undef WG_N
#undef WG_PTX
#undef WG_SPACE

typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
typedef __half nv_half;
typedef __half2 nv_half2;
#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
#endif

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
#endif

#endif
