// Uniform distributions of cuRAND's device interface: 0 is left out, 1 is not.
#ifndef CURAND_UNIFORM_H_
#define CURAND_UNIFORM_H_

#include "curand_mrg32k3a.h"
#include "curand_mtgp32_kernel.h"
#include "curand_philox4x32_x.h"
#include "warpgrind/curand/sobol.h"
#include "warpgrind/curand/xorwow.h"

__device__ inline float _curand_uniform(unsigned int x) {
  return x * 0x1p-32f + 0x1p-33f;
}
__device__ inline float _curand_uniform(unsigned long long x) {
  return static_cast<unsigned>(x >> 32) * 0x1p-32f + 0x1p-33f;
}
__device__ inline double _curand_uniform_double(unsigned int x) {
  return x * 0x1p-32 + 0x1p-32;
}
__device__ inline double _curand_uniform_double(unsigned long long x) {
  return (x >> 11) * 0x1p-53 + 0x1p-54;
}
// 53 bits of two numbers.
__device__ inline double _curand_uniform_double_hq(unsigned int x, unsigned int y) {
  const unsigned long long bits = x ^ (static_cast<unsigned long long>(y) << 21);
  return bits * 0x1p-53 + 0x1p-54;
}

__device__ inline float curand_uniform(curandStateXORWOW_t* state) {
  return _curand_uniform(curand(state));
}
__device__ inline double curand_uniform_double(curandStateXORWOW_t* state) {
  const unsigned x = curand(state);
  const unsigned y = curand(state);
  return _curand_uniform_double_hq(x, y);
}

__device__ inline float curand_uniform(curandStateMRG32k3a_t* state) {
  return static_cast<float>(wg_mrg32k3a_next(state) * 2.3283065498378288e-10);
}
__device__ inline double curand_uniform_double(curandStateMRG32k3a_t* state) {
  return wg_mrg32k3a_next(state) * 2.3283065498378288e-10;
}

__device__ inline float curand_uniform(curandStatePhilox4_32_10_t* state) {
  return _curand_uniform(curand(state));
}
__device__ inline float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_float4(_curand_uniform(x.x), _curand_uniform(x.y), _curand_uniform(x.z), _curand_uniform(x.w));
}
__device__ inline double curand_uniform_double(curandStatePhilox4_32_10_t* state) {
  return _curand_uniform_double(curand(state));
}
__device__ inline double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_double2(_curand_uniform_double_hq(x.x, x.y), _curand_uniform_double_hq(x.z, x.w));
}
__device__ inline double4 curand_uniform4_double(curandStatePhilox4_32_10_t* state) {
  const double2 first = curand_uniform2_double(state);
  const double2 second = curand_uniform2_double(state);
  return {first.x, first.y, second.x, second.y};
}

// Of one number each.
#define WG_UNIFORM_OF_ONE(name)                                                  \
  __device__ inline float curand_uniform(curandState##name##_t* state) {         \
    return _curand_uniform(curand(state));                                       \
  }                                                                              \
  __device__ inline double curand_uniform_double(curandState##name##_t* state) { \
    return _curand_uniform_double(curand(state));                                \
  }
WG_UNIFORM_OF_ONE(Mtgp32)
WG_UNIFORM_OF_ONE(Sobol32)
WG_UNIFORM_OF_ONE(ScrambledSobol32)
WG_UNIFORM_OF_ONE(Sobol64)
WG_UNIFORM_OF_ONE(ScrambledSobol64)
#undef WG_UNIFORM_OF_ONE

#endif
