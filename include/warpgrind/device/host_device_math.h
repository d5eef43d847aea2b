// Part of wrapper.h: math functions that CUDA adds for host and device: min and max of every pair of arithmetic types,
// and host versions of functions that the C library lacks (CUDA Math API). Their device versions are clang's, on
// __nv_*.
#pragma once

#define WG_DEVICE static __device__ __forceinline__
#define WG_HOST static inline __host__ __attribute__((unused))
#ifdef __CUDACC_RTC__  // run-time compilation: no host code, no C library
#define WG_ON_HOST(...)
#else
#define WG_ON_HOST(...) __VA_ARGS__
#endif

#define WG_MIN_MAX(type, a_type, b_type)          \
  WG_HOST type min(a_type a, b_type b) {          \
    return (type)b < (type)a ? (type)b : (type)a; \
  }                                               \
  WG_HOST type max(a_type a, b_type b) {          \
    return (type)a < (type)b ? (type)b : (type)a; \
  }                                               \
  WG_DEVICE type min(a_type a, b_type b) {        \
    return (type)b < (type)a ? (type)b : (type)a; \
  }                                               \
  WG_DEVICE type max(a_type a, b_type b) {        \
    return (type)a < (type)b ? (type)b : (type)a; \
  }
WG_HOST int min(int a, int b) {
  return b < a ? b : a;
}
WG_HOST int max(int a, int b) {
  return a < b ? b : a;
}
#define WG_MIN_MAX_UNSIGNED(type, signed_type) \
  WG_MIN_MAX(type, type, type)                 \
  WG_MIN_MAX(type, type, signed_type)          \
  WG_MIN_MAX(type, signed_type, type)
WG_MIN_MAX_UNSIGNED(unsigned int, int)
WG_MIN_MAX(long, long, long)
WG_MIN_MAX_UNSIGNED(unsigned long, long)
WG_MIN_MAX(long long, long long, long long)
WG_MIN_MAX_UNSIGNED(unsigned long long, long long)
#undef WG_MIN_MAX_UNSIGNED
#undef WG_MIN_MAX
// As fmin and fmax: if one operand is NaN, the result is the other.
#define WG_FLOAT_MIN_MAX(type, a_type, b_type, suffix) \
  WG_HOST type min(a_type a, b_type b) {               \
    return __builtin_fmin##suffix(a, b);               \
  }                                                    \
  WG_HOST type max(a_type a, b_type b) {               \
    return __builtin_fmax##suffix(a, b);               \
  }                                                    \
  WG_DEVICE type min(a_type a, b_type b) {             \
    return __nv_fmin##suffix(a, b);                    \
  }                                                    \
  WG_DEVICE type max(a_type a, b_type b) {             \
    return __nv_fmax##suffix(a, b);                    \
  }
WG_FLOAT_MIN_MAX(float, float, float, f)
WG_FLOAT_MIN_MAX(double, double, double, )
WG_FLOAT_MIN_MAX(double, float, double, )
WG_FLOAT_MIN_MAX(double, double, float, )
#undef WG_FLOAT_MIN_MAX

#ifndef __CUDACC_RTC__
// ---- On the host
#define WG_HOST_PAIR(name, parameters, arguments, expression) \
  WG_HOST double name parameters {                            \
    return expression;                                        \
  }                                                           \
  WG_HOST float name##f parameters {                          \
    return (float)name arguments;                             \
  }
#define WG_HOST1(name, expression) \
  WG_HOST double name(double x) {  \
    return expression;             \
  }                                \
  WG_HOST float name##f(float x) { \
    return (float)name((double)x); \
  }
// glibc declares C23's functions itself: sinpi() and cospi() since 2.41, rsqrt() since 2.42.
#if !defined(__GLIBC__) || (__GLIBC__ == 2 && __GLIBC_MINOR__ < 42)
WG_HOST1(rsqrt, 1.0 / ::sqrt(x))
#endif
WG_HOST1(rcbrt, 1.0 / ::cbrt(x))
// sin(pi x). The reduction of x to [-1/2, 1/2] is exact.
static inline __host__ double wg_host_sinpi(double x) {
  const double r = x - 2.0 * __builtin_floor(0.5 * x);  // [0, 2)
  const double pi = 3.14159265358979323846;
  if (r <= 0.25) return __builtin_sin(pi * r);
  if (r <= 0.75) return __builtin_cos(pi * (r - 0.5));
  if (r <= 1.25) return __builtin_sin(pi * (1.0 - r));
  if (r <= 1.75) return -__builtin_cos(pi * (r - 1.5));
  return __builtin_sin(pi * (r - 2.0));
}
#if !defined(__GLIBC__) || (__GLIBC__ == 2 && __GLIBC_MINOR__ < 41)
WG_HOST1(sinpi, wg_host_sinpi(x))
WG_HOST1(cospi, wg_host_sinpi(__builtin_fabs(x) + 0.5))
#endif
WG_HOST1(normcdf, 0.5 * ::erfc(-x * 0.70710678118654752440))
WG_HOST double erfinv(double y) {
  if (!(y > -1.0 && y < 1.0)) return y == 1.0 ? __builtin_inf() : y == -1.0 ? -__builtin_inf() : __builtin_nan("");
  // Winitzki's approximation, then Newton steps on erf.
  const double l = ::log1p(-y * y), t = 4.33074675 + 0.5 * l;
  double x = __builtin_copysign(::sqrt(::sqrt(t * t - l / 0.147) - t), y);
  for (int i = 0; i < 4; i++) {
    const double slope = 1.12837916709551257390 * ::exp(-x * x);
    if (slope == 0) break;
    x -= (::erf(x) - y) / slope;
  }
  return x;
}
WG_HOST float erfinvf(float y) {
  return (float)erfinv((double)y);
}
WG_HOST1(erfcinv, erfinv(1.0 - x))
WG_HOST1(normcdfinv, 1.41421356237309504880 * erfinv(2.0 * x - 1.0))
WG_HOST1(erfcx, ::exp(x* x) * ::erfc(x))
#undef WG_HOST1
#undef WG_HOST_PAIR
WG_HOST void sincospi(double x, double* s, double* c) {
  *s = sinpi(x), *c = cospi(x);
}
WG_HOST void sincospif(float x, float* s, float* c) {
  *s = sinpif(x), *c = cospif(x);
}
WG_HOST double norm3d(double a, double b, double c) {
  return ::hypot(::hypot(a, b), c);
}
WG_HOST float norm3df(float a, float b, float c) {
  return (float)norm3d(a, b, c);
}
WG_HOST double norm4d(double a, double b, double c, double d) {
  return ::hypot(norm3d(a, b, c), d);
}
WG_HOST float norm4df(float a, float b, float c, float d) {
  return (float)norm4d(a, b, c, d);
}
WG_HOST double rhypot(double a, double b) {
  return 1.0 / ::hypot(a, b);
}
WG_HOST float rhypotf(float a, float b) {
  return (float)rhypot((double)a, (double)b);
}
WG_HOST double rnorm3d(double a, double b, double c) {
  return 1.0 / norm3d(a, b, c);
}
WG_HOST float rnorm3df(float a, float b, float c) {
  return (float)rnorm3d(a, b, c);
}
WG_HOST float fdividef(float a, float b) {
  return a / b;
}
WG_HOST double fdivide(double a, double b) {
  return a / b;
}
WG_HOST long long llmax(long long a, long long b) {
  return max(a, b);
}
WG_HOST long long llmin(long long a, long long b) {
  return min(a, b);
}
WG_HOST unsigned int umax(unsigned int a, unsigned int b) {
  return max(a, b);
}
WG_HOST unsigned int umin(unsigned int a, unsigned int b) {
  return min(a, b);
}
WG_HOST unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}
WG_HOST unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
#endif

// ---- float overloads of the C library's functions. clang declares them for the device before <cmath>, which would
// make templates of them, and expects the toolkit's headers to define them.
#define WG_DEVICE1(result, name)   \
  WG_DEVICE result name(float x) { \
    return ::name##f(x);           \
  }
#define WG_DEVICE2(name, other)            \
  WG_DEVICE float name(float x, other y) { \
    return ::name##f(x, y);                \
  }
WG_DEVICE1(float, acosh)
WG_DEVICE1(float, asinh)
WG_DEVICE1(float, atanh)
WG_DEVICE1(float, cbrt)
WG_DEVICE1(float, erf)
WG_DEVICE1(float, erfc)
WG_DEVICE1(float, exp2)
WG_DEVICE1(float, expm1)
WG_DEVICE1(int, ilogb)
WG_DEVICE1(float, lgamma)
WG_DEVICE1(long long, llrint)
WG_DEVICE1(long long, llround)
WG_DEVICE1(float, log1p)
WG_DEVICE1(float, log2)
WG_DEVICE1(float, logb)
WG_DEVICE1(long, lrint)
WG_DEVICE1(long, lround)
WG_DEVICE1(float, nearbyint)
WG_DEVICE1(float, rint)
WG_DEVICE1(float, round)
WG_DEVICE1(float, tgamma)
WG_DEVICE1(float, trunc)
WG_DEVICE2(copysign, float)
WG_DEVICE2(fdim, float)
WG_DEVICE2(fmax, float)
WG_DEVICE2(fmin, float)
WG_DEVICE2(hypot, float)
WG_DEVICE2(nextafter, float)
WG_DEVICE2(remainder, float)
WG_DEVICE2(scalbln, long)
WG_DEVICE2(scalbn, int)
#undef WG_DEVICE1
#undef WG_DEVICE2
WG_DEVICE float fma(float x, float y, float z) {
  return ::fmaf(x, y, z);
}
WG_DEVICE float remquo(float x, float y, int* quotient) {
  return ::remquof(x, y, quotient);
}
WG_DEVICE double nan(const char*) {
  return __builtin_nan("");
}
WG_DEVICE float nanf(const char*) {
  return __builtin_nanf("");
}

// ---- float overloads of functions that only CUDA has
#define WG_FLOAT_OVERLOAD(name)                                    \
  WG_ON_HOST(WG_HOST float name(float x) { return ::name##f(x); }) \
  WG_DEVICE float name(float x) {                                  \
    return ::name##f(x);                                           \
  }
WG_FLOAT_OVERLOAD(rsqrt)
WG_FLOAT_OVERLOAD(rcbrt)
WG_FLOAT_OVERLOAD(sinpi)
WG_FLOAT_OVERLOAD(cospi)
WG_FLOAT_OVERLOAD(erfinv)
WG_FLOAT_OVERLOAD(erfcinv)
WG_FLOAT_OVERLOAD(normcdfinv)
WG_FLOAT_OVERLOAD(normcdf)
WG_FLOAT_OVERLOAD(erfcx)
#undef WG_FLOAT_OVERLOAD
WG_ON_HOST(WG_HOST void sincospi(float x, float* s, float* c) { sincospif(x, s, c); })
WG_ON_HOST(WG_HOST void sincos(float x, float* s, float* c) { sincosf(x, s, c); })
WG_DEVICE void sincospi(float x, float* s, float* c) {
  sincospif(x, s, c);
}
WG_DEVICE void sincos(float x, float* s, float* c) {
  sincosf(x, s, c);
}

#undef WG_HOST
#undef WG_ON_HOST
#undef WG_DEVICE
