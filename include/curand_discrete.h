// What curandCreatePoissonDistribution makes, in the device's memory, and curand_discrete() reads. Kernels that were
// compiled with NVIDIA's headers read it too: the members stand where they do there.
#ifndef CURANDDISCRETE_H_
#define CURANDDISCRETE_H_

#include "curand.h"

struct curandDistributionShift_st {
  curandDistribution_t probability;
  curandDistribution_t host_probability;
  unsigned int shift;
  unsigned int length;
  unsigned int host_gen;
};

// A histogram of columns equally wide: a uniform number below V[j] in column j stands for j itself, above for K[j].
struct curandHistogramM2_st {
  curandHistogramM2V_t V;
  curandHistogramM2V_t host_V;
  curandHistogramM2K_t K;
  curandHistogramM2K_t host_K;
  unsigned int host_gen;
};

// Column j is for the value shift + j.
struct curandDistributionM2Shift_st {
  curandHistogramM2_t histogram;
  curandHistogramM2_t host_histogram;
  unsigned int shift;
  unsigned int length;
  unsigned int host_gen;
};

struct curandDiscreteDistribution_st {
  curandDiscreteDistribution_t self_host_ptr;
  curandDistributionM2Shift_t M2;
  curandDistributionM2Shift_t host_M2;
  double stddev;
  double mean;
  curandMethod_t method;  // CURAND_M2, or CURAND_DISCRETE_GAUSS
  unsigned int host_gen;
};

#endif
