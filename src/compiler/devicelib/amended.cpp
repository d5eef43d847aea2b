// OCML functions with corrections: signs of zeros that OpenCL leaves open, and errors above NVIDIA's bounds.
#include "devicelib/libdevice.h"

#define OCML extern "C" __attribute__((const))
#define OCML_PAIR(name)                  \
  OCML float __ocml_##name##_f32(float); \
  OCML double __ocml_##name##_f64(double);

OCML_PAIR(sinpi)
OCML_PAIR(cospi)
OCML_PAIR(log1p)
OCML_PAIR(erfcx)
OCML_PAIR(erfinv)
OCML_PAIR(erfcinv)
OCML_PAIR(ncdfinv)
OCML_PAIR(tgamma)
OCML_PAIR(i1)
OCML float __ocml_expm1_f32(float);
OCML double __ocml_log_f64(double);

extern "C" {
float __ocml_sincospi_f32(float x, float* cosine);
double __ocml_sincospi_f64(double x, double* cosine);
}

// The zeros of sin(pi x) have the sign of x; those of cos(pi x) are positive.
WG_INLINE float zero_like(float x, float result) {
  return result == 0 ? __builtin_copysignf(0.0f, x) : result;
}
WG_INLINE double zero_like(double x, double result) {
  return result == 0 ? __builtin_copysign(0.0, x) : result;
}
NV_FUNCTION float __nv_sinpif(float x) {
  return zero_like(x, __ocml_sinpi_f32(x));
}
NV_FUNCTION double __nv_sinpi(double x) {
  return zero_like(x, __ocml_sinpi_f64(x));
}
NV_FUNCTION float __nv_cospif(float x) {
  return __ocml_cospi_f32(x) + 0.0f;
}
NV_FUNCTION double __nv_cospi(double x) {
  return __ocml_cospi_f64(x) + 0.0;
}
NV_FUNCTION void __nv_sincospif(float x, float* sine, float* cosine) {
  float c;
  *sine = zero_like(x, __ocml_sincospi_f32(x, &c));
  *cosine = c + 0.0f;
}
NV_FUNCTION void __nv_sincospi(double x, double* sine, double* cosine) {
  double c;
  *sine = zero_like(x, __ocml_sincospi_f64(x, &c));
  *cosine = c + 0.0;
}

NV_FUNCTION float __nv_expm1f(float x) {
  return x == 0 ? x : __ocml_expm1_f32(x);
}
// e^x - 1 to 0.8 ulp (OCML: 2 ulps). x = k ln 2 + r, |r| <= ln(2)/2. The result is 2^k (r + s + 1 - 2^-k): 1 - 2^-k is
// exact or does not matter, and the two larger terms are added exactly.
NV_FUNCTION double __nv_expm1(double x) {
  const double k = __builtin_rint(__builtin_fmin(__builtin_fmax(x, -60.0), 710.0) * 0x1.71547652b82fep+0);
  const double high = fma(k, -0x1.62e42fefa39efp-1, x);
  const double low = k * 0x1.abc9e3b39803fp-56;
  const double r = high - low;
  const double rest = (high - r) - low;
  const double c[] = {
      0x1.5555555555556p-3,  0x1.5555555555556p-5,  0x1.1111111110ce0p-7,  0x1.6c16c16c15bd8p-10,
      0x1.a01a01a29aeccp-13, 0x1.a01a01a9a6e58p-16, 0x1.71de2fe69679cp-19, 0x1.27e4d4485cd8ep-22,
      0x1.ae8bc126cabc9p-26, 0x1.1f7f6d980432ap-29, 0x1.2a0163d30c4ffp-33};  // (e^r - 1 - r - r^2/2)/r^3
  const double s = fma(r * r, fma(r, polynomial(r, c), 0.5), fma(rest, r, rest));
  const double whole = 1.0 - power_of_two_d(-static_cast<int>(__builtin_fmin(k, 100.0)));
  const double sum = whole + r;
  const double lost = magnitude(whole) > magnitude(r) ? r - (sum - whole) : whole - (sum - r);
  double result = (sum + (lost + s)) * 2 * power_of_two_d(static_cast<int>(k) - 1);
  result = x > 710.0 ? infinity_d : result;
  result = x < -60.0 ? -1.0 : result;
  return magnitude(x) < 0x1p-54 ? x : result;
}
NV_FUNCTION float __nv_log1pf(float x) {
  return x == 0 ? x : __ocml_log1p_f32(x);
}
NV_FUNCTION double __nv_log1p(double x) {
  return x == 0 ? x : __ocml_log1p_f64(x);
}

// The natural logarithm to 0.9 ulp (OCML's float version: 2 ulps). x = 2^e * m, m in [2/3, 4/3).
NV_FUNCTION float __nv_logf(float x) {
  const bool subnormal = x < 0x1p-126f;
  const float scaled = subnormal ? x * 0x1p+23f : x;
  const int exponent = static_cast<int>(bits_of(scaled) - 0x3f2aaaabu) >> 23;
  const float f = float_of(bits_of(scaled) - (static_cast<uint32>(exponent) << 23)) - 1.0f;
  const float e = static_cast<float>(exponent) - (subnormal ? 23.0f : 0.0f);
  const float c[] = {-0x1.000000p-1f, 0x1.555502p-2f,  -0x1.fffe84p-3f, 0x1.99d1f2p-3f, -0x1.55a752p-3f,
                     0x1.1ebe82p-3f,  -0x1.f25e0cp-4f, 0x1.1ed0c2p-3f,  -0x1.093162p-3f};  // (log(1+f) - f)/f^2
  float result = fma(e, 0x1.62e430p-1f, fma(f * f, polynomial(f, c), f));
  result = x < infinity_f ? result : x;  // a NaN passes through
  result = x < 0 ? __builtin_nanf("") : result;
  return x == 0 ? -infinity_f : result;
}
NV_FUNCTION double __nv_log(double x) {
  return __ocml_log_f64(x);
}

// exp(x^2) erfc(x). OCML's series for large x begins too early (6 ulps at 27.5). Here: 1/(sqrt(pi) x) times an
// asymptotic series, whose terms fall to 2^-60 from 26 on.
NV_FUNCTION float __nv_erfcxf(float x) {
  return __ocml_erfcx_f32(x);
}
NV_FUNCTION double __nv_erfcx(double x) {
  if (!(x >= 26)) return __ocml_erfcx_f64(x);
  const double t = 0.5 / x / x;
  const double c[] = {1, -1, 3, -15, 105, -945, 10395, -135135};  // (-1)^k 1 3 5 ... (2k-1)
  return 0x1.20dd750429b6dp-1 / x * polynomial(t, c);             // 1/sqrt(pi)
}

// Computed in double: OCML's float versions are off by 3 (erfinvf, erfcinvf), 4 (normcdfinvf) and 11 ulps (tgammaf),
// and lose subnormal results.
NV_FUNCTION float __nv_erfinvf(float x) {
  return static_cast<float>(__ocml_erfinv_f64(x));
}
NV_FUNCTION double __nv_erfinv(double x) {
  return __ocml_erfinv_f64(x);
}
NV_FUNCTION float __nv_erfcinvf(float x) {
  return static_cast<float>(__ocml_erfcinv_f64(x));
}
NV_FUNCTION double __nv_erfcinv(double x) {
  return __ocml_erfcinv_f64(x);
}
NV_FUNCTION float __nv_normcdfinvf(float x) {
  return x == 0.5f ? 0.0f : __ocml_ncdfinv_f32(x);
}
NV_FUNCTION double __nv_normcdfinv(double x) {
  return x == 0.5 ? 0.0 : __ocml_ncdfinv_f64(x);
}

// Every result is a zero below -42 (float: follows from the double result) and below -185 (double). It is negative
// between -43 and -42, -45 and -44, ...
WG_INLINE double gamma_of(double x) {
  if (x < -185 && x > -infinity_d && __builtin_floor(x) != x) {
    const double half = __builtin_floor(x) * 0.5;
    return __builtin_floor(half) == half ? 0.0 : -0.0;
  }
  return __ocml_tgamma_f64(x);
}
NV_FUNCTION float __nv_tgammaf(float x) {
  return static_cast<float>(gamma_of(x));
}
NV_FUNCTION double __nv_tgamma(double x) {
  return gamma_of(x);
}

// OCML takes the square root of a negative argument, and multiplies infinity by zero if the result leaves the range.
NV_FUNCTION float __nv_cyl_bessel_i1f(float x) {
  const float size = magnitude(x);
  return __builtin_copysignf(size > 100 ? infinity_f : __ocml_i1_f32(size), x);
}
NV_FUNCTION double __nv_cyl_bessel_i1(double x) {
  const double size = magnitude(x);
  return __builtin_copysign(size > 720 ? infinity_d : __ocml_i1_f64(size), x);
}
