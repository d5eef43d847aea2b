// Conversions between numbers, with each rounding mode; numbers as bits.
#include "devicelib/libdevice.h"

#define FLUSHING(from, to, rounding, x) \
  (wg_flushes() ? __nvvm_##from##2##to##_##rounding##_ftz(x) : __nvvm_##from##2##to##_##rounding(x))

#define FOR_EACH_ROUNDING(define) define(rn, rn) define(rz, rz) define(rd, rm) define(ru, rp)

#define CONVERSIONS(cuda, ptx)                           \
  NV_FUNCTION int __nv_float2int_##cuda(float x) {       \
    return FLUSHING(f, i, ptx, x);                       \
  }                                                      \
  NV_FUNCTION uint32 __nv_float2uint_##cuda(float x) {   \
    return FLUSHING(f, ui, ptx, x);                      \
  }                                                      \
  NV_FUNCTION int64 __nv_float2ll_##cuda(float x) {      \
    return FLUSHING(f, ll, ptx, x);                      \
  }                                                      \
  NV_FUNCTION uint64 __nv_float2ull_##cuda(float x) {    \
    return FLUSHING(f, ull, ptx, x);                     \
  }                                                      \
  NV_FUNCTION float __nv_double2float_##cuda(double x) { \
    return FLUSHING(d, f, ptx, x);                       \
  }                                                      \
  NV_FUNCTION int __nv_double2int_##cuda(double x) {     \
    return __nvvm_d2i_##ptx(x);                          \
  }                                                      \
  NV_FUNCTION uint32 __nv_double2uint_##cuda(double x) { \
    return __nvvm_d2ui_##ptx(x);                         \
  }                                                      \
  NV_FUNCTION int64 __nv_double2ll_##cuda(double x) {    \
    return __nvvm_d2ll_##ptx(x);                         \
  }                                                      \
  NV_FUNCTION uint64 __nv_double2ull_##cuda(double x) {  \
    return __nvvm_d2ull_##ptx(x);                        \
  }
FOR_EACH_ROUNDING(CONVERSIONS)

// Conversions from integers, written in PTX: LLVM takes its own intrinsics of cvt.rz for conversions to nearest.
#define FROM_INTEGER(cuda, ptx, name, result, argument, to, from, result_letter, letter)    \
  NV_FUNCTION result __nv_##name##_##cuda(argument x) {                                     \
    result converted;                                                                       \
    asm("cvt." #ptx "." to "." from " %0, %1;" : "=" result_letter(converted) : letter(x)); \
    return converted;                                                                       \
  }
#define FROM_INTEGERS(cuda, ptx)                                             \
  FROM_INTEGER(cuda, ptx, int2float, float, int, "f32", "s32", "f", "r")     \
  FROM_INTEGER(cuda, ptx, uint2float, float, uint32, "f32", "u32", "f", "r") \
  FROM_INTEGER(cuda, ptx, ll2float, float, int64, "f32", "s64", "f", "l")    \
  FROM_INTEGER(cuda, ptx, ull2float, float, uint64, "f32", "u64", "f", "l")  \
  FROM_INTEGER(cuda, ptx, ll2double, double, int64, "f64", "s64", "d", "l")  \
  FROM_INTEGER(cuda, ptx, ull2double, double, uint64, "f64", "u64", "d", "l")
FOR_EACH_ROUNDING(FROM_INTEGERS)

NV_FUNCTION double __nv_int2double_rn(int x) {
  return x;
}
NV_FUNCTION double __nv_uint2double_rn(uint32 x) {
  return x;
}

NV_FUNCTION uint16 __nv_float2half_rn(float x) {
  return static_cast<uint16>(wg_flushes() ? __nvvm_f2h_rn_ftz(x) : __nvvm_f2h_rn(x));
}
NV_FUNCTION float __nv_half2float(uint16 bits) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(bits));
  return result;
}

NV_FUNCTION int __nv_float_as_int(float x) {
  return static_cast<int>(bits_of(x));
}
NV_FUNCTION uint32 __nv_float_as_uint(float x) {
  return bits_of(x);
}
NV_FUNCTION float __nv_int_as_float(int x) {
  return float_of(static_cast<uint32>(x));
}
NV_FUNCTION float __nv_uint_as_float(uint32 x) {
  return float_of(x);
}
NV_FUNCTION uint64 __nv_double_as_longlong(double x) {
  return bits_of(x);
}
NV_FUNCTION double __nv_longlong_as_double(int64 x) {
  return double_of(static_cast<uint64>(x));
}
NV_FUNCTION int __nv_double2hiint(double x) {
  return static_cast<int>(bits_of(x) >> 32);
}
NV_FUNCTION int __nv_double2loint(double x) {
  return static_cast<int>(bits_of(x));
}
NV_FUNCTION double __nv_hiloint2double(int high, int low) {
  return double_of(static_cast<uint64>(static_cast<uint32>(high)) << 32 | static_cast<uint32>(low));
}

// To the nearest integer: halves to even (rint), or away from zero (round).
extern "C" float __nv_roundf(float);
extern "C" double __nv_round(double);
NV_FUNCTION int64 __nv_llrintf(float x) {
  return __nv_float2ll_rn(x);
}
NV_FUNCTION int64 __nv_llrint(double x) {
  return __nv_double2ll_rn(x);
}
NV_FUNCTION int64 __nv_llroundf(float x) {
  return __nv_float2ll_rz(__nv_roundf(x));
}
NV_FUNCTION int64 __nv_llround(double x) {
  return __nv_double2ll_rz(__nv_round(x));
}
