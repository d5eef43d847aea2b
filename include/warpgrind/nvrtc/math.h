// Part of nvrtc/wrapper.h: overloads of the C library's math functions for programs without <cmath>. Other CUDA
// programs get them from <cmath> and clang's header. As in NVRTC, only pow has an overload for integers: sin(1) is
// ambiguous.
#pragma once

#define WG_DEVICE static __device__ __forceinline__
#define WG_FLOAT1(name)           \
  WG_DEVICE float name(float x) { \
    return ::name##f(x);          \
  }
#define WG_FLOAT_WITH(name, other)         \
  WG_DEVICE float name(float x, other y) { \
    return ::name##f(x, y);                \
  }
#define WG_CLASS(name, of_float, of_double) \
  WG_DEVICE bool name(float x) {            \
    return of_float(x);                     \
  }                                         \
  WG_DEVICE bool name(double x) {           \
    return of_double(x);                    \
  }
#define WG_ORDER(name)                      \
  WG_DEVICE bool name(float x, float y) {   \
    return __builtin_##name(x, y);          \
  }                                         \
  WG_DEVICE bool name(double x, double y) { \
    return __builtin_##name(x, y);          \
  }
// clang-format off
WG_FLOAT1(acos) WG_FLOAT1(asin) WG_FLOAT1(atan) WG_FLOAT1(ceil) WG_FLOAT1(cos) WG_FLOAT1(cosh) WG_FLOAT1(exp)
WG_FLOAT1(fabs) WG_FLOAT1(floor) WG_FLOAT1(log) WG_FLOAT1(log10) WG_FLOAT1(sin) WG_FLOAT1(sinh) WG_FLOAT1(sqrt)
WG_FLOAT1(tan) WG_FLOAT1(tanh)
WG_FLOAT_WITH(atan2, float) WG_FLOAT_WITH(fmod, float) WG_FLOAT_WITH(pow, float) WG_FLOAT_WITH(frexp, int*)
WG_FLOAT_WITH(ldexp, int) WG_FLOAT_WITH(modf, float*)
WG_CLASS(isinf, ::__isinff, ::__isinf) WG_CLASS(isnan, ::__isnanf, ::__isnan)
WG_CLASS(isfinite, ::__finitef, ::__isfinited) WG_CLASS(signbit, ::__signbitf, ::__signbitd)
WG_CLASS(isnormal, __builtin_isnormal, __builtin_isnormal)
WG_ORDER(isgreater) WG_ORDER(isgreaterequal) WG_ORDER(isless) WG_ORDER(islessequal) WG_ORDER(islessgreater)
WG_ORDER(isunordered)
    // clang-format on
    WG_DEVICE float abs(float x) {
  return ::fabsf(x);
}
WG_DEVICE double abs(double x) {
  return ::fabs(x);
}
WG_DEVICE long abs(long x) {
  return ::labs(x);
}
WG_DEVICE long long abs(long long x) {
  return ::llabs(x);
}
WG_DEVICE float pow(float base, int exponent) {
  return ::powif(base, exponent);
}
WG_DEVICE double pow(double base, int exponent) {
  return ::powi(base, exponent);
}
#undef WG_FLOAT1
#undef WG_FLOAT_WITH
#undef WG_CLASS
#undef WG_ORDER
#undef WG_DEVICE
