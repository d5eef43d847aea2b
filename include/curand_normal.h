// Normal and log-normal distributions of cuRAND's device interface: pairs by Box and Muller's method from pseudo-random
// numbers, the inverse of the distribution function for quasi-random ones, which must not be mixed, and for MTGP32.
#ifndef CURAND_NORMAL_H_
#define CURAND_NORMAL_H_

#include "curand_uniform.h"

#define WG_BOX_MULLER_KEEPS 0x4a  // boxmuller_flag: the second of a pair is still to be given

__device__ inline float2 wg_box_muller(float u, float angle) {
  const float radius = sqrtf(-2.0f * logf(u));
  float2 result;
  __sincosf(angle, &result.x, &result.y);
  result.x *= radius;
  result.y *= radius;
  return result;
}
__device__ inline double2 wg_box_muller(double u, double half_turns) {
  const double radius = sqrt(-2.0 * log(u));
  double2 result;
  sincospi(half_turns, &result.x, &result.y);
  result.x *= radius;
  result.y *= radius;
  return result;
}
__device__ inline float2 _curand_box_muller(unsigned int x, unsigned int y) {
  const float turn = 0x1.921fb6p-30f;  // 2 pi 2^-32
  return wg_box_muller(_curand_uniform(x), y * turn + turn / 2);
}
__device__ inline double2 _curand_box_muller_double(unsigned int x0, unsigned int x1, unsigned int y0,
                                                    unsigned int y1) {
  const unsigned long long y = y0 ^ (static_cast<unsigned long long>(y1) << 21);
  return wg_box_muller(_curand_uniform_double_hq(x0, x1), y * 0x1p-52 + 0x1p-53);
}

template <class State>
__device__ inline float2 wg_normal2(State* state) {
  const unsigned x = curand(state);
  const unsigned y = curand(state);
  return _curand_box_muller(x, y);
}
template <class State>
__device__ inline double2 wg_normal2_double(State* state) {
  const unsigned x0 = curand(state);
  const unsigned x1 = curand(state);
  const unsigned y0 = curand(state);
  const unsigned y1 = curand(state);
  return _curand_box_muller_double(x0, x1, y0, y1);
}
__device__ inline float2 wg_normal2(curandStateMRG32k3a_t* state) {
  const float u = curand_uniform(state);
  const float v = curand_uniform(state) * 0x1.921fb6p+2f;
  return wg_box_muller(u, v);
}
__device__ inline double2 wg_normal2_double(curandStateMRG32k3a_t* state) {
  const double u = curand_uniform_double(state);
  const double v = curand_uniform_double(state) * 2.0;
  return wg_box_muller(u, v);
}

// mean + deviation * normal, its exponential.
__device__ inline float wg_log_normal(float normal, float mean, float deviation) {
  return expf(mean + deviation * normal);
}
__device__ inline double wg_log_normal(double normal, double mean, double deviation) {
  return exp(mean + deviation * normal);
}

#define WG_NORMAL(name)                                                                                           \
  __device__ inline float2 curand_normal2(curandState##name##_t* state) {                                         \
    return wg_normal2(state);                                                                                     \
  }                                                                                                               \
  __device__ inline double2 curand_normal2_double(curandState##name##_t* state) {                                 \
    return wg_normal2_double(state);                                                                              \
  }                                                                                                               \
  __device__ inline float curand_normal(curandState##name##_t* state) {                                           \
    if (state->boxmuller_flag == WG_BOX_MULLER_KEEPS) {                                                           \
      state->boxmuller_flag = 0;                                                                                  \
      return state->boxmuller_extra;                                                                              \
    }                                                                                                             \
    const float2 pair = wg_normal2(state);                                                                        \
    state->boxmuller_flag = WG_BOX_MULLER_KEEPS;                                                                  \
    state->boxmuller_extra = pair.y;                                                                              \
    return pair.x;                                                                                                \
  }                                                                                                               \
  __device__ inline double curand_normal_double(curandState##name##_t* state) {                                   \
    if (state->boxmuller_flag_double == WG_BOX_MULLER_KEEPS) {                                                    \
      state->boxmuller_flag_double = 0;                                                                           \
      return state->boxmuller_extra_double;                                                                       \
    }                                                                                                             \
    const double2 pair = wg_normal2_double(state);                                                                \
    state->boxmuller_flag_double = WG_BOX_MULLER_KEEPS;                                                           \
    state->boxmuller_extra_double = pair.y;                                                                       \
    return pair.x;                                                                                                \
  }                                                                                                               \
  __device__ inline float2 curand_log_normal2(curandState##name##_t* state, float mean, float stddev) {           \
    const float2 pair = wg_normal2(state);                                                                        \
    return make_float2(wg_log_normal(pair.x, mean, stddev), wg_log_normal(pair.y, mean, stddev));                 \
  }                                                                                                               \
  __device__ inline double2 curand_log_normal2_double(curandState##name##_t* state, double mean, double stddev) { \
    const double2 pair = wg_normal2_double(state);                                                                \
    return make_double2(wg_log_normal(pair.x, mean, stddev), wg_log_normal(pair.y, mean, stddev));                \
  }
WG_NORMAL(XORWOW)
WG_NORMAL(MRG32k3a)
WG_NORMAL(Philox4_32_10)
#undef WG_NORMAL

__device__ inline float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 a = _curand_box_muller(x.x, x.y);
  const float2 b = _curand_box_muller(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}
__device__ inline double4 curand_normal4_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const uint4 y = curand4(state);
  const double2 a = _curand_box_muller_double(x.x, x.y, x.z, x.w);
  const double2 b = _curand_box_muller_double(y.x, y.y, y.z, y.w);
  return {a.x, a.y, b.x, b.y};
}
__device__ inline float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean, float stddev) {
  const float4 x = curand_normal4(state);
  return make_float4(wg_log_normal(x.x, mean, stddev), wg_log_normal(x.y, mean, stddev),
                     wg_log_normal(x.z, mean, stddev), wg_log_normal(x.w, mean, stddev));
}
__device__ inline double4 curand_log_normal4_double(curandStatePhilox4_32_10_t* state, double mean, double stddev) {
  const double4 x = curand_normal4_double(state);
  return {wg_log_normal(x.x, mean, stddev), wg_log_normal(x.y, mean, stddev), wg_log_normal(x.z, mean, stddev),
          wg_log_normal(x.w, mean, stddev)};
}

// The upper half of the numbers is mirrored, where the distance from 1 would be lost.
__device__ inline float _curand_normal_icdf(unsigned int x) {
  const bool upper = x > 0x80000000u;
  const float u = _curand_uniform(upper ? 0xffffffffu - x : x);
  const float result = -1.41421356f * erfcinvf(2.0f * u);
  return upper ? -result : result;
}
__device__ inline float _curand_normal_icdf(unsigned long long x) {
  return _curand_normal_icdf(static_cast<unsigned>(x >> 32));
}
__device__ inline double _curand_normal_icdf_double(unsigned int x) {
  const bool upper = x > 0x80000000u;
  const double u = (upper ? 0xffffffffu - x : x) * 0x1p-32 + 0x1p-33;
  const double result = -1.4142135623730951 * erfcinv(2.0 * u);
  return upper ? -result : result;
}
__device__ inline double _curand_normal_icdf_double(unsigned long long x) {
  x >>= 11;
  const bool upper = x > 0x10000000000000ull;
  const double u = (upper ? 0x1fffffffffffffull - x : x) * 0x1p-53 + 0x1p-54;
  const double result = -1.4142135623730951 * erfcinv(2.0 * u);
  return upper ? -result : result;
}
#define WG_NORMAL_OF_ONE(name)                                                                                  \
  __device__ inline float curand_normal(curandState##name##_t* state) {                                         \
    return _curand_normal_icdf(curand(state));                                                                  \
  }                                                                                                             \
  __device__ inline double curand_normal_double(curandState##name##_t* state) {                                 \
    return _curand_normal_icdf_double(curand(state));                                                           \
  }                                                                                                             \
  __device__ inline float curand_log_normal(curandState##name##_t* state, float mean, float stddev) {           \
    return wg_log_normal(curand_normal(state), mean, stddev);                                                   \
  }                                                                                                             \
  __device__ inline double curand_log_normal_double(curandState##name##_t* state, double mean, double stddev) { \
    return wg_log_normal(curand_normal_double(state), mean, stddev);                                            \
  }
WG_NORMAL_OF_ONE(Mtgp32)
WG_NORMAL_OF_ONE(Sobol32)
WG_NORMAL_OF_ONE(ScrambledSobol32)
WG_NORMAL_OF_ONE(Sobol64)
WG_NORMAL_OF_ONE(ScrambledSobol64)
#undef WG_NORMAL_OF_ONE

#define WG_LOG_NORMAL(name)                                                                                     \
  __device__ inline float curand_log_normal(curandState##name##_t* state, float mean, float stddev) {           \
    return wg_log_normal(curand_normal(state), mean, stddev);                                                   \
  }                                                                                                             \
  __device__ inline double curand_log_normal_double(curandState##name##_t* state, double mean, double stddev) { \
    return wg_log_normal(curand_normal_double(state), mean, stddev);                                            \
  }
WG_LOG_NORMAL(XORWOW)
WG_LOG_NORMAL(MRG32k3a)
WG_LOG_NORMAL(Philox4_32_10)
#undef WG_LOG_NORMAL

#endif
