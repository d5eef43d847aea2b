// cuRAND's device interface: random numbers in kernels. Written from its documentation and the papers named in each
// part; the sequences are NVIDIA's, as recorded on an H200 (tests/curand).
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include <cuda_runtime.h>
#if __has_include("curand.h")  // the host interface: programs get its types and enumerators from here
#include "curand.h"
#endif

#include "curand_lognormal.h"
#include "curand_mrg32k3a.h"
#include "curand_normal.h"
#include "curand_philox4x32_x.h"
#include "curand_poisson.h"
#include "curand_uniform.h"

// Not here, because no others' numbers would do: their tables are in NVIDIA's library alone.
#define WG_NO_MTGP32 \
  __attribute__((unavailable("warpgrind has no MTGP32 in kernels; there are XORWOW, MRG32k3a, Philox and Sobol")))
#define WG_NO_DISCRETE \
  __attribute__((unavailable("warpgrind has no discrete distributions in kernels; there is curand_poisson()")))
struct WG_NO_MTGP32 curandStateMtgp32;
typedef struct curandStateMtgp32 curandStateMtgp32_t WG_NO_MTGP32;
struct WG_NO_DISCRETE curandDiscreteDistribution_st;
typedef struct curandDiscreteDistribution_st* curandDiscreteDistribution_t WG_NO_DISCRETE;
#undef WG_NO_MTGP32
#undef WG_NO_DISCRETE

#endif
