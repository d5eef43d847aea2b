// Complex numbers of CUDA's libraries: pairs of float or double with functions, the same in C and C++, on host and
// device. Quotients and absolute values scale first, so that no square overflows or vanishes.
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#ifndef __CUDACC_RTC__
#include <math.h>
#endif

#include "vector_types.h"

#define WG_COMPLEX __host__ __device__ static __inline__

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define WG_COMPLEX_FUNCTIONS(type, real, make, creal, cimag, conj, add, sub, mul, div, abs, fma, hypot, fabs) \
  WG_COMPLEX real creal(type z) {                                                                             \
    return z.x;                                                                                               \
  }                                                                                                           \
  WG_COMPLEX real cimag(type z) {                                                                             \
    return z.y;                                                                                               \
  }                                                                                                           \
  WG_COMPLEX type make(real r, real i) {                                                                      \
    type z;                                                                                                   \
    z.x = r;                                                                                                  \
    z.y = i;                                                                                                  \
    return z;                                                                                                 \
  }                                                                                                           \
  WG_COMPLEX type conj(type z) {                                                                              \
    return make(z.x, -z.y);                                                                                   \
  }                                                                                                           \
  WG_COMPLEX type add(type a, type b) {                                                                       \
    return make(a.x + b.x, a.y + b.y);                                                                        \
  }                                                                                                           \
  WG_COMPLEX type sub(type a, type b) {                                                                       \
    return make(a.x - b.x, a.y - b.y);                                                                        \
  }                                                                                                           \
  WG_COMPLEX type mul(type a, type b) {                                                                       \
    return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                                \
  }                                                                                                           \
  WG_COMPLEX type div(type a, type b) {                                                                       \
    const real scale = (real)1 / (fabs(b.x) + fabs(b.y));                                                     \
    const real ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                        \
    const real norm = (real)1 / (bx * bx + by * by);                                                          \
    return make((ax * bx + ay * by) * norm, (ay * bx - ax * by) * norm);                                      \
  }                                                                                                           \
  WG_COMPLEX real abs(type z) {                                                                               \
    return hypot(z.x, z.y);                                                                                   \
  }                                                                                                           \
  WG_COMPLEX type fma(type a, type b, type c) {                                                               \
    return make(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);                                    \
  }

#ifdef __cplusplus
extern "C" {
#endif
WG_COMPLEX_FUNCTIONS(cuFloatComplex, float, make_cuFloatComplex, cuCrealf, cuCimagf, cuConjf, cuCaddf, cuCsubf, cuCmulf,
                     cuCdivf, cuCabsf, cuCfmaf, hypotf, fabsf)
WG_COMPLEX_FUNCTIONS(cuDoubleComplex, double, make_cuDoubleComplex, cuCreal, cuCimag, cuConj, cuCadd, cuCsub, cuCmul,
                     cuCdiv, cuCabs, cuCfma, hypot, fabs)

WG_COMPLEX cuComplex make_cuComplex(float r, float i) {
  return make_cuFloatComplex(r, i);
}
WG_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
  return make_cuDoubleComplex(z.x, z.y);
}
WG_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_cuFloatComplex((float)z.x, (float)z.y);
}
#ifdef __cplusplus
}
#endif

#undef WG_COMPLEX_FUNCTIONS
#undef WG_COMPLEX

#endif
