// 8-bit floating point: e4m3, e5m2 and e8m0 (CUDA Math API, "FP8 Intrinsics").
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_types.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#ifdef __cplusplus
#define WG_BOTH static __host__ __device__ __inline__ __attribute__((unused))

// e4m3 has 3 bits of mantissa, no infinity, and one NaN of each sign; the largest is 448. e5m2 is the upper half of a
// half.
WG_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t saturate,
                                                  const __nv_fp8_interpretation_t kind) {
  const int mantissa = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  const double largest = kind == __NV_E4M3 ? 448.0 : 57344.0;
  const unsigned char sign = __builtin_signbit(x) ? 0x80 : 0, nan = 0x7f;
  const unsigned char top = kind == __NV_E4M3 ? 0x7e : 0x7b, infinity = kind == __NV_E4M3 ? 0x7f : 0x7c;
  if (x != x) return (unsigned char)(kind == __NV_E4M3 ? sign | nan : nan);
  unsigned long long bits;
  __builtin_memcpy(&bits, &x, 8);
  const int exponent = (int)((bits >> 52) & 0x7ff) - 1023;
  const double magnitude = sign ? -x : x;
  if (magnitude > 1e300) return (unsigned char)(sign | (saturate == __NV_SATFINITE ? top : infinity));
  // In units of the last place: exact, then to the nearest even.
  const int least = 1 - bias, place = (exponent < least ? least : exponent) - mantissa;
  double unit = 1.0;
  const unsigned long long unit_bits = (unsigned long long)(1023 - place) << 52;
  __builtin_memcpy(&unit, &unit_bits, 8);
  const double scaled = magnitude * unit;
  unsigned int count = (unsigned int)scaled;
  const double rest = scaled - count;
  if (rest > 0.5 || (rest == 0.5 && (count & 1))) count++;
  // What is rounded up to the next power of two has the right bits by itself.
  const unsigned int result = exponent < least ? count : ((unsigned int)(exponent + bias - 1) << mantissa) + count;
  if (result > top || magnitude > largest * 2)
    return (unsigned char)(sign | (saturate == __NV_SATFINITE ? top : infinity));
  return (unsigned char)(sign | result);
}
WG_BOTH float wg_fp8_to_float(__nv_fp8_storage_t v, __nv_fp8_interpretation_t kind) {
  if (kind == __NV_E5M2) return wg_half::wg_to_float((unsigned short)(v << 8));
  if ((v & 0x7f) == 0x7f) return __builtin_nanf("");
  const unsigned int exponent = (v >> 3) & 15, mantissa = v & 7;
  const float magnitude = exponent ? (float)(8 + mantissa) * (exponent >= 10 ? (float)(1u << (exponent - 10))
                                                                             : 1.0f / (float)(1u << (10 - exponent)))
                                   : (float)mantissa * 0x1p-9f;
  return v & 0x80 ? -magnitude : magnitude;
}
WG_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturate,
                                                 const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8((double)x, saturate, kind);
}
WG_BOTH __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 x, const __nv_saturation_t saturate,
                                                      const __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(x.x, saturate, kind) | __nv_cvt_float_to_fp8(x.y, saturate, kind)
                                                                                 << 8);
}
WG_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, const __nv_saturation_t saturate,
                                                   const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8((float)__half(x), saturate, kind);
}
WG_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x, const __nv_saturation_t saturate,
                                                       const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8((float)__nv_bfloat16(x), saturate, kind);
}
WG_BOTH __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t kind) {
  return (__half_raw)__half(wg_fp8_to_float(x, kind));
}
WG_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x, const __nv_fp8_interpretation_t kind) {
  __half2_raw r;
  r.x = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x;
  r.y = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x;
  return r;
}

WG_BOTH __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 x, const __nv_saturation_t saturate,
                                                       const __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(x.x, saturate, kind) |
                                __nv_cvt_double_to_fp8(x.y, saturate, kind) << 8);
}
WG_BOTH __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x, const __nv_saturation_t saturate,
                                                        const __nv_fp8_interpretation_t kind) {
  const __half_raw low = {x.x}, high = {x.y};
  return (__nv_fp8x2_storage_t)(__nv_cvt_halfraw_to_fp8(low, saturate, kind) |
                                __nv_cvt_halfraw_to_fp8(high, saturate, kind) << 8);
}
WG_BOTH __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x,
                                                            const __nv_saturation_t saturate,
                                                            const __nv_fp8_interpretation_t kind) {
  const __nv_bfloat16_raw low = {x.x}, high = {x.y};
  return (__nv_fp8x2_storage_t)(__nv_cvt_bfloat16raw_to_fp8(low, saturate, kind) |
                                __nv_cvt_bfloat16raw_to_fp8(high, saturate, kind) << 8);
}
WG_BOTH float2 wg_fp8x2_to_float2(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t kind) {
  return make_float2(wg_fp8_to_float((unsigned char)v, kind), wg_fp8_to_float((unsigned char)(v >> 8), kind));
}

#define WG_CONSTRUCTOR(name, from, value) \
  explicit __host__ __device__ name(const from v) : __x(value) {}
#define WG_OPERATOR(type, value)                       \
  explicit __host__ __device__ operator type() const { \
    return value;                                      \
  }
#define WG_INTEGER(name, kind, type)                                                  \
  WG_CONSTRUCTOR(name, type, __nv_cvt_double_to_fp8((double)v, __NV_SATFINITE, kind)) \
  WG_OPERATOR(type, (type)wg_fp8_to_float(__x, kind))

#define WG_FP8(name, kind)                                                                                         \
  struct __nv_fp8_##name {                                                                                         \
    __nv_fp8_storage_t __x;                                                                                        \
    __nv_fp8_##name() = default;                                                                                   \
    WG_CONSTRUCTOR(__nv_fp8_##name, float, __nv_cvt_float_to_fp8(v, __NV_SATFINITE, kind))                         \
    WG_CONSTRUCTOR(__nv_fp8_##name, double, __nv_cvt_double_to_fp8(v, __NV_SATFINITE, kind))                       \
    WG_CONSTRUCTOR(__nv_fp8_##name, __half, __nv_cvt_halfraw_to_fp8(v, __NV_SATFINITE, kind))                      \
    WG_CONSTRUCTOR(__nv_fp8_##name, __nv_bfloat16, __nv_cvt_bfloat16raw_to_fp8(v, __NV_SATFINITE, kind))           \
    WG_INTEGER(__nv_fp8_##name, kind, short)                                                                       \
    WG_INTEGER(__nv_fp8_##name, kind, unsigned short)                                                              \
    WG_INTEGER(__nv_fp8_##name, kind, int)                                                                         \
    WG_INTEGER(__nv_fp8_##name, kind, unsigned int)                                                                \
    WG_INTEGER(__nv_fp8_##name, kind, long)                                                                        \
    WG_INTEGER(__nv_fp8_##name, kind, unsigned long)                                                               \
    WG_INTEGER(__nv_fp8_##name, kind, long long)                                                                   \
    WG_INTEGER(__nv_fp8_##name, kind, unsigned long long)                                                          \
    WG_OPERATOR(char, (char)wg_fp8_to_float(__x, kind))                                                            \
    WG_OPERATOR(signed char, (signed char)wg_fp8_to_float(__x, kind))                                              \
    WG_OPERATOR(unsigned char, (unsigned char)wg_fp8_to_float(__x, kind))                                          \
    WG_OPERATOR(float, wg_fp8_to_float(__x, kind))                                                                 \
    WG_OPERATOR(double, (double)wg_fp8_to_float(__x, kind))                                                        \
    WG_OPERATOR(__half, __half(wg_fp8_to_float(__x, kind)))                                                        \
    WG_OPERATOR(__nv_bfloat16, __nv_bfloat16(wg_fp8_to_float(__x, kind)))                                          \
    WG_OPERATOR(bool, (__x & 0x7f) != 0)                                                                           \
  };                                                                                                               \
  struct __nv_fp8x2_##name {                                                                                       \
    __nv_fp8x2_storage_t __x;                                                                                      \
    __nv_fp8x2_##name() = default;                                                                                 \
    WG_CONSTRUCTOR(__nv_fp8x2_##name, __half2, __nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, kind))                \
    WG_CONSTRUCTOR(__nv_fp8x2_##name, __nv_bfloat162, __nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, kind))     \
    WG_CONSTRUCTOR(__nv_fp8x2_##name, float2, __nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kind))                   \
    WG_CONSTRUCTOR(__nv_fp8x2_##name, double2, __nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kind))                 \
    WG_OPERATOR(float2, wg_fp8x2_to_float2(__x, kind))                                                             \
    WG_OPERATOR(__half2, __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)))                                           \
  };                                                                                                               \
  struct __nv_fp8x4_##name {                                                                                       \
    __nv_fp8x4_storage_t __x;                                                                                      \
    __nv_fp8x4_##name() = default;                                                                                 \
    explicit __host__ __device__ __nv_fp8x4_##name(const __nv_fp8x2_##name low, const __nv_fp8x2_##name high)      \
        : __x(low.__x | (unsigned int)high.__x << 16) {}                                                           \
    explicit __host__ __device__ __nv_fp8x4_##name(const __half2 low, const __half2 high)                          \
        : __nv_fp8x4_##name(__nv_fp8x2_##name(low), __nv_fp8x2_##name(high)) {}                                    \
    explicit __host__ __device__ __nv_fp8x4_##name(const __nv_bfloat162 low, const __nv_bfloat162 high)            \
        : __nv_fp8x4_##name(__nv_fp8x2_##name(low), __nv_fp8x2_##name(high)) {}                                    \
    explicit __host__ __device__ __nv_fp8x4_##name(const float4 v)                                                 \
        : __nv_fp8x4_##name(__nv_fp8x2_##name(make_float2(v.x, v.y)), __nv_fp8x2_##name(make_float2(v.z, v.w))) {} \
    explicit __host__ __device__ operator float4() const {                                                         \
      const float2 low = wg_fp8x2_to_float2((__nv_fp8x2_storage_t)__x, kind);                                      \
      const float2 high = wg_fp8x2_to_float2((__nv_fp8x2_storage_t)(__x >> 16), kind);                             \
      return make_float4(low.x, low.y, high.x, high.y);                                                            \
    }                                                                                                              \
  };
WG_FP8(e4m3, __NV_E4M3)
WG_FP8(e5m2, __NV_E5M2)
#undef WG_FP8
#undef WG_INTEGER
#undef WG_OPERATOR
#undef WG_CONSTRUCTOR

// e8m0, a scaling factor: 2^(code - 127), 0xff is NaN; no sign and no zero. Magnitudes are rounded to a power of two
// and clipped to 2^-127; above 2^127 they are clipped too, or become NaN.
WG_BOTH __nv_fp8_storage_t __nv_cvt_double_to_e8m0(const double x, const __nv_saturation_t saturate,
                                                   const enum cudaRoundMode rounding) {
  unsigned long long bits;
  __builtin_memcpy(&bits, &x, 8);
  bits &= ~0ull >> 1;
  if (bits > 0x7ffull << 52) return 0xff;
  const unsigned long long fraction = bits & ((1ull << 52) - 1);
  const int code = (int)(bits >> 52) - 1023 + 127 + (rounding == cudaRoundPosInf && fraction != 0);
  // Towards zero no finite number gets beyond the largest, as with NVIDIA's.
  const bool clipped = saturate == __NV_SATFINITE || (rounding == cudaRoundZero && bits < 0x7ffull << 52);
  if (code > 0xfe) return (__nv_fp8_storage_t)(clipped ? 0xfe : 0xff);
  return (__nv_fp8_storage_t)(code < 0 ? 0 : code);
}
WG_BOTH __nv_fp8_storage_t __nv_cvt_float_to_e8m0(const float x, const __nv_saturation_t saturate,
                                                  const enum cudaRoundMode rounding) {
  return __nv_cvt_double_to_e8m0((double)x, saturate, rounding);
}
WG_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(const __nv_bfloat16_raw x, const __nv_saturation_t saturate,
                                                        const enum cudaRoundMode rounding) {
  return __nv_cvt_float_to_e8m0((float)__nv_bfloat16(x), saturate, rounding);
}
WG_BOTH __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(const double2 x, const __nv_saturation_t saturate,
                                                        const enum cudaRoundMode rounding) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_e8m0(x.x, saturate, rounding) |
                                __nv_cvt_double_to_e8m0(x.y, saturate, rounding) << 8);
}
WG_BOTH __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(const float2 x, const __nv_saturation_t saturate,
                                                       const enum cudaRoundMode rounding) {
  return __nv_cvt_double2_to_e8m0x2(make_double2(x.x, x.y), saturate, rounding);
}
WG_BOTH __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(const __nv_fp8_storage_t x) {
  __nv_bfloat16_raw r;
  r.x = (unsigned short)(x == 0xff ? 0x7fff : x == 0 ? 0x40 : x << 7);  // 2^-127 is subnormal
  return r;
}
WG_BOTH __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(const __nv_fp8x2_storage_t x) {
  __nv_bfloat162_raw r;
  r.x = __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)x).x;
  r.y = __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)(x >> 8)).x;
  return r;
}
struct __nv_fp8_e8m0 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e8m0() = default;
  __host__ __device__ explicit __nv_fp8_e8m0(double d)
      : __x(__nv_cvt_double_to_e8m0(d, __NV_SATFINITE, cudaRoundPosInf)) {}
  __host__ __device__ explicit __nv_fp8_e8m0(float f) : __nv_fp8_e8m0((double)f) {}
  __host__ __device__ explicit __nv_fp8_e8m0(__half h) : __nv_fp8_e8m0((float)h) {}
  __host__ __device__ explicit __nv_fp8_e8m0(__nv_bfloat16 b) : __nv_fp8_e8m0((float)b) {}
  __host__ __device__ explicit operator __nv_bfloat16() const { return __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x)); }
  __host__ __device__ explicit operator float() const { return (float)__nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x)); }
  __host__ __device__ explicit operator double() const { return (double)(float)*this; }
  __host__ __device__ explicit operator __half() const { return __half((float)*this); }
  __host__ __device__ explicit operator bool() const { return true; }  // there is no zero
#define WG_E8M0(type, most)                                                                         \
  __host__ __device__ explicit __nv_fp8_e8m0(type i) : __nv_fp8_e8m0(wg_bfloat16::odd_double(i)) {} \
  WG_E8M0_TO(type, most)
#define WG_E8M0_TO(type, most)                                             \
  __host__ __device__ explicit operator type() const {                     \
    const float f = (float)*this;                                          \
    return f != f ? (type)0 : f >= (float)(most) ? (type)(most) : (type)f; \
  }
  WG_E8M0(short, 32767)
  WG_E8M0(unsigned short, 65535)
  WG_E8M0(int, 2147483647)
  WG_E8M0(unsigned int, 4294967295u)
  WG_E8M0(long, 9223372036854775807l)
  WG_E8M0(unsigned long, 18446744073709551615ul)
  WG_E8M0(long long, 9223372036854775807ll)
  WG_E8M0(unsigned long long, 18446744073709551615ull)
  WG_E8M0_TO(signed char, 127)
  WG_E8M0_TO(unsigned char, 255)
  WG_E8M0_TO(char, 127)
#undef WG_E8M0
#undef WG_E8M0_TO
};
#undef WG_BOTH
#endif

#endif
