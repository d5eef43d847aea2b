// Elementary and special functions taken unchanged from OCML (amended.cpp has the corrected ones).
#include "devicelib/libdevice.h"

#define OCML extern "C" __attribute__((const))

#define FROM_OCML_1(name, ocml)               \
  OCML float __ocml_##ocml##_f32(float);      \
  OCML double __ocml_##ocml##_f64(double);    \
  NV_FUNCTION float __nv_##name##f(float x) { \
    return __ocml_##ocml##_f32(x);            \
  }                                           \
  NV_FUNCTION double __nv_##name(double x) {  \
    return __ocml_##ocml##_f64(x);            \
  }
#define DOUBLE_FROM_OCML(name, ocml)         \
  OCML double __ocml_##ocml##_f64(double);   \
  NV_FUNCTION double __nv_##name(double x) { \
    return __ocml_##ocml##_f64(x);           \
  }
#define FROM_OCML_2(name, ocml)                        \
  OCML float __ocml_##ocml##_f32(float, float);        \
  OCML double __ocml_##ocml##_f64(double, double);     \
  NV_FUNCTION float __nv_##name##f(float x, float y) { \
    return __ocml_##ocml##_f32(x, y);                  \
  }                                                    \
  NV_FUNCTION double __nv_##name(double x, double y) { \
    return __ocml_##ocml##_f64(x, y);                  \
  }
#define FROM_OCML_3(name, ocml)                                  \
  OCML float __ocml_##ocml##_f32(float, float, float);           \
  OCML double __ocml_##ocml##_f64(double, double, double);       \
  NV_FUNCTION float __nv_##name##f(float x, float y, float z) {  \
    return __ocml_##ocml##_f32(x, y, z);                         \
  }                                                              \
  NV_FUNCTION double __nv_##name(double x, double y, double z) { \
    return __ocml_##ocml##_f64(x, y, z);                         \
  }
#define FROM_OCML_4(name, ocml)                                            \
  OCML float __ocml_##ocml##_f32(float, float, float, float);              \
  OCML double __ocml_##ocml##_f64(double, double, double, double);         \
  NV_FUNCTION float __nv_##name##f(float x, float y, float z, float w) {   \
    return __ocml_##ocml##_f32(x, y, z, w);                                \
  }                                                                        \
  NV_FUNCTION double __nv_##name(double x, double y, double z, double w) { \
    return __ocml_##ocml##_f64(x, y, z, w);                                \
  }

FROM_OCML_1(sin, sin)
FROM_OCML_1(cos, cos)
FROM_OCML_1(tan, tan)
FROM_OCML_1(asin, asin)
FROM_OCML_1(acos, acos)
FROM_OCML_1(atan, atan)
FROM_OCML_2(atan2, atan2)
FROM_OCML_1(sinh, sinh)
FROM_OCML_1(cosh, cosh)
DOUBLE_FROM_OCML(tanh, tanh)
FROM_OCML_1(asinh, asinh)
FROM_OCML_1(acosh, acosh)
FROM_OCML_1(atanh, atanh)

DOUBLE_FROM_OCML(exp2, exp2)
DOUBLE_FROM_OCML(exp10, exp10)
FROM_OCML_1(log2, log2)
FROM_OCML_1(log10, log10)
FROM_OCML_2(pow, pow)

FROM_OCML_1(cbrt, cbrt)
FROM_OCML_1(rcbrt, rcbrt)
FROM_OCML_2(hypot, hypot)
FROM_OCML_3(norm3d, len3)
FROM_OCML_3(rnorm3d, rlen3)
FROM_OCML_4(norm4d, len4)
FROM_OCML_4(rnorm4d, rlen4)

DOUBLE_FROM_OCML(erf, erf)
FROM_OCML_1(erfc, erfc)
FROM_OCML_1(normcdf, ncdf)
FROM_OCML_1(lgamma, lgamma)
FROM_OCML_1(cyl_bessel_i0, i0)
FROM_OCML_1(j0, j0)
FROM_OCML_1(j1, j1)
FROM_OCML_1(y0, y0)
FROM_OCML_1(y1, y1)

FROM_OCML_2(fmod, fmod)
FROM_OCML_2(remainder, remainder)

extern "C" {
float __ocml_sincos_f32(float x, float* cosine);
double __ocml_sincos_f64(double x, double* cosine);
float __ocml_remquo_f32(float x, float y, int* quotient);
double __ocml_remquo_f64(double x, double y, int* quotient);
}
OCML float __ocml_pown_f32(float x, int n);
OCML double __ocml_pown_f64(double x, int n);

NV_FUNCTION void __nv_sincosf(float x, float* sine, float* cosine) {
  float c;
  *sine = __ocml_sincos_f32(x, &c);
  *cosine = c;
}
NV_FUNCTION void __nv_sincos(double x, double* sine, double* cosine) {
  double c;
  *sine = __ocml_sincos_f64(x, &c);
  *cosine = c;
}
NV_FUNCTION float __nv_remquof(float x, float y, int* quotient) {
  int q;
  const float rest = __ocml_remquo_f32(x, y, &q);
  *quotient = q;
  return rest;
}
NV_FUNCTION double __nv_remquo(double x, double y, int* quotient) {
  int q;
  const double rest = __ocml_remquo_f64(x, y, &q);
  *quotient = q;
  return rest;
}
NV_FUNCTION float __nv_powif(float x, int n) {
  return __ocml_pown_f32(x, n);
}
NV_FUNCTION double __nv_powi(double x, int n) {
  return __ocml_pown_f64(x, n);
}
