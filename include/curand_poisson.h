// The Poisson distribution of cuRAND's device interface. By its mean: up to 64 the number of uniform numbers whose
// product stays above e^-mean (Knuth); above 4000 a rounded normal number; between, and for quasi-random numbers up to
// 4000, the quantile of one uniform number.
#ifndef CURAND_POISSON_H_
#define CURAND_POISSON_H_

#include "curand_normal.h"

template <class State>
__device__ inline unsigned int wg_poisson_product(State* state, float mean) {
  const float limit = expf(-mean);
  unsigned count = 0;
  for (float product = curand_uniform(state); product > limit; product *= curand_uniform(state)) ++count;
  return count;
}

// The smallest k with P(X <= k) >= u: from the mode, whose probability and distribution function Stirling's formula and
// sums of the neighbours give, up or down. Some 5 sqrt(mean) terms count.
__device__ inline unsigned int wg_poisson_quantile(double u, double mean) {
  const double mode = floor(mean);
  const double at_mode = exp(mode * log(mean) - mean - lgamma(mode + 1));
  double below = 0;  // P(X < mode)
  double term = at_mode;
  for (double k = mode; k > 0 && term > 1e-18 * at_mode; --k) {
    term *= k / mean;
    below += term;
  }
  double k = mode;
  term = at_mode;
  if (below < u) {
    for (double sum = below + term; sum < u && term > 0; sum += term) {
      ++k;
      term *= mean / k;
    }
    return static_cast<unsigned>(k);
  }
  for (double sum = below; sum >= u && k > 0;) {  // sum is P(X < k)
    term *= k / mean;
    --k;
    sum -= term;
  }
  return static_cast<unsigned>(k);
}

__device__ inline unsigned int wg_poisson_of_normal(double normal, double mean) {
  return static_cast<unsigned>(sqrt(mean) * normal + mean + 0.5);
}

#define WG_POISSON(name)                                                                       \
  __device__ inline unsigned int curand_poisson(curandState##name##_t* state, double lambda) { \
    if (lambda < 64) return wg_poisson_product(state, static_cast<float>(lambda));             \
    if (lambda > 4000) return wg_poisson_of_normal(curand_normal_double(state), lambda);       \
    return wg_poisson_quantile(curand_uniform_double(state), lambda);                          \
  }
WG_POISSON(XORWOW)
WG_POISSON(MRG32k3a)
WG_POISSON(Philox4_32_10)
#undef WG_POISSON

__device__ inline uint4 curand_poisson4(curandStatePhilox4_32_10_t* state, double lambda) {
  uint4 result;
  if (lambda > 4000) {
    const double4 x = curand_normal4_double(state);
    result.x = wg_poisson_of_normal(x.x, lambda);
    result.y = wg_poisson_of_normal(x.y, lambda);
    result.z = wg_poisson_of_normal(x.z, lambda);
    result.w = wg_poisson_of_normal(x.w, lambda);
  } else {
    result.x = curand_poisson(state, lambda);
    result.y = curand_poisson(state, lambda);
    result.z = curand_poisson(state, lambda);
    result.w = curand_poisson(state, lambda);
  }
  return result;
}

#define WG_QUASI_POISSON(name)                                                                 \
  __device__ inline unsigned int curand_poisson(curandState##name##_t* state, double lambda) { \
    if (lambda > 4000) return wg_poisson_of_normal(curand_normal_double(state), lambda);       \
    return wg_poisson_quantile(curand_uniform_double(state), lambda);                          \
  }
WG_QUASI_POISSON(Sobol32)
WG_QUASI_POISSON(ScrambledSobol32)
WG_QUASI_POISSON(Sobol64)
WG_QUASI_POISSON(ScrambledSobol64)
#undef WG_QUASI_POISSON

#endif
