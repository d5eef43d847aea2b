// The Poisson distribution of cuRAND's device interface. By its mean: up to 64 the number of uniform numbers whose
// product stays above e^-mean (Knuth); above 4000 a rounded normal number; between, the quantile of one uniform number.
// Generators that must draw exactly one number, the quasi-random ones and MTGP32: up to 1000 by inversion, from there
// on a rounded normal number.
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

// Neither 0 nor 1.
__device__ inline double wg_inner_uniform(unsigned int x) {
  return x * 0x1p-32 + 0x1p-33;
}
__device__ inline double wg_inner_uniform(unsigned long long x) {
  return (x >> 11) * 0x1p-53 + 0x1p-55;
}

// Inversion (Fishman, "Discrete-Event Simulation", 2001): the distribution function summed from 0 until it reaches u.
// As e^-mean may have no double, the sums are scaled by it in steps of e^-500, each when the sum so far is used up.
__device__ inline unsigned int wg_poisson_inverse(double u, double mean) {
  unsigned count = 0;
  double term = 1;
  double sum = 1;
  for (int scaled = 0; scaled == 0 || scaled < mean; scaled += 500) {
    const double scale = exp(mean > scaled + 500 ? -500.0 : scaled - mean);
    term *= scale;
    sum *= scale;
    while (sum < u && sum + term > sum) {  // a u near 1 may be beyond every sum
      ++count;
      term *= mean / count;
      sum += term;
    }
  }
  return count;
}

template <class Word>
__device__ inline unsigned int wg_poisson_of_one(Word x, double mean) {
  if (mean < 1000) return wg_poisson_inverse(wg_inner_uniform(x), mean);
  return wg_poisson_of_normal(_curand_normal_icdf_double(x), mean);
}

#define WG_POISSON_OF_ONE(name)                                                                \
  __device__ inline unsigned int curand_poisson(curandState##name##_t* state, double lambda) { \
    return wg_poisson_of_one(curand(state), lambda);                                           \
  }
WG_POISSON_OF_ONE(Mtgp32)
WG_POISSON_OF_ONE(Sobol32)
WG_POISSON_OF_ONE(ScrambledSobol32)
WG_POISSON_OF_ONE(Sobol64)
WG_POISSON_OF_ONE(ScrambledSobol64)
#undef WG_POISSON_OF_ONE

#endif
