// cuRAND's device interface: random numbers in kernels. Written from its documentation and the papers named in each
// part; the sequences are NVIDIA's, as recorded (tests/curand says how).
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include <cuda_runtime.h>
#if __has_include("curand.h")  // the host interface: programs get its types and enumerators from here
#include "curand.h"
#endif

#include "curand_discrete2.h"
#include "curand_lognormal.h"
#include "curand_mrg32k3a.h"
#include "curand_mtgp32_kernel.h"
#include "curand_normal.h"
#include "curand_philox4x32_x.h"
#include "curand_poisson.h"
#include "curand_uniform.h"

#endif
