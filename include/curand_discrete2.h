// Discrete distributions in kernels: by a square histogram (Marsaglia, Tsang and Wang, "Fast Generation of Discrete
// Random Variables", 2004), or by rounding normal numbers, as the distribution says.
#ifndef CURAND_DISCRETE_H_
#define CURAND_DISCRETE_H_

#include "curand_discrete.h"
#include "curand_normal.h"

// A number of 32 bits may give 1, which is in the column behind the last: the tables have one.
__device__ inline unsigned int wg_value_in(curandDistributionM2Shift_t m2, double u) {
  const int column = static_cast<int>(floor(m2->length * u));
  const unsigned value = u < m2->histogram->V[column] ? static_cast<unsigned>(column) : m2->histogram->K[column];
  return m2->shift + value;
}
__device__ inline unsigned int wg_value_of_normal(curandDiscreteDistribution_t d, double normal) {
  return static_cast<unsigned>(d->stddev * normal + d->mean + 0.5);
}

#define WG_DISCRETE(name)                                                                              \
  __device__ inline unsigned int curand_discrete(curandState##name##_t* state,                         \
                                                 curandDiscreteDistribution_t discrete_distribution) { \
    if (discrete_distribution->method == CURAND_M2)                                                    \
      return wg_value_in(discrete_distribution->M2, _curand_uniform_double(curand(state)));            \
    return wg_value_of_normal(discrete_distribution, curand_normal_double(state));                     \
  }
WG_DISCRETE(XORWOW)
WG_DISCRETE(MRG32k3a)
WG_DISCRETE(Philox4_32_10)
WG_DISCRETE(Mtgp32)
WG_DISCRETE(Sobol32)
WG_DISCRETE(ScrambledSobol32)
WG_DISCRETE(Sobol64)
WG_DISCRETE(ScrambledSobol64)
#undef WG_DISCRETE

__device__ inline uint4 curand_discrete4(curandStatePhilox4_32_10_t* state,
                                         curandDiscreteDistribution_t discrete_distribution) {
  if (discrete_distribution->method == CURAND_M2) {
    const uint4 x = curand4(state);
    const curandDistributionM2Shift_t m2 = discrete_distribution->M2;
    return make_uint4(wg_value_in(m2, _curand_uniform_double(x.x)), wg_value_in(m2, _curand_uniform_double(x.y)),
                      wg_value_in(m2, _curand_uniform_double(x.z)), wg_value_in(m2, _curand_uniform_double(x.w)));
  }
  const double4 normal = curand_normal4_double(state);
  return make_uint4(
      wg_value_of_normal(discrete_distribution, normal.x), wg_value_of_normal(discrete_distribution, normal.y),
      wg_value_of_normal(discrete_distribution, normal.z), wg_value_of_normal(discrete_distribution, normal.w));
}

#endif
