// __nv_bfloat16: the upper half of a float (CUDA Math API, "Bfloat16 Precision Intrinsics").
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__
#define __CUDA_BF16_HPP__
#define __CUDA_BF16_TYPES_EXIST__

#include "cuda_fp16.h"
#include "host_defines.h"
#include "vector_functions.h"
#include "vector_types.h"

#ifdef __cplusplus
namespace wg_bfloat16 {
static __host__ __device__ __inline__ float wg_to_float(unsigned short b) {
  const unsigned int bits = (unsigned int)b << 16;
  float f;
  __builtin_memcpy(&f, &bits, 4);
  return f;
}
// rounding: 0 nearest even, 1 to zero, 2 down, 3 up
static __host__ __device__ __inline__ unsigned short wg_from_float(float f, int rounding) {
  unsigned int bits;
  __builtin_memcpy(&bits, &f, 4);
  if ((bits & 0x7fffffff) > 0x7f800000u) return 0x7fff;
  const unsigned int rest = bits & 0xffff, negative = bits >> 31;
  unsigned int result = bits >> 16;
  if (rounding == 0 ? rest > 0x8000 || (rest == 0x8000 && (result & 1)) : rest && rounding == (negative ? 2 : 3))
    result++;
  return (unsigned short)result;
}
}  // namespace wg_bfloat16

#define WG_OTHER __half
#define WG_T __nv_bfloat16
#define WG_T2 __nv_bfloat162
#define WG_RAW __nv_bfloat16_raw
#define WG_RAW2 __nv_bfloat162_raw
#define WG_N bfloat16
#define WG_PTX "bf16"
#define WG_SPACE wg_bfloat16
#include "warpgrind/narrow_float.inc"
#undef WG_OTHER
#undef WG_T
#undef WG_T2
#undef WG_RAW
#undef WG_RAW2
#undef WG_N
#undef WG_PTX
#undef WG_SPACE

inline __host__ __device__ __half::__half(const __nv_bfloat16 v) : __half((float)v) {}
inline __host__ __device__ __nv_bfloat16::__nv_bfloat16(const __half v) : __nv_bfloat16((float)v) {}

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
#endif

#endif
