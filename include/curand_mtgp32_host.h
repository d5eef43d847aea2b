// Before the launch: MTGP32's parameters and states in the device's memory.
#ifndef CURAND_MTGP32_HOST_H
#define CURAND_MTGP32_HOST_H

#include <cuda_runtime.h>
#include <stdlib.h>

#include "curand.h"
#include "curand_mtgp32.h"
#include "curand_mtgp32dc_p_11213.h"
#include "warpgrind/curand/mtgp32.h"

static inline __host__ curandStatus_t wg_mtgp32_copy(void* to, const void* from, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess ? CURAND_STATUS_SUCCESS
                                                                            : CURAND_STATUS_INITIALIZATION_FAILED;
}

// All sets of `params`, from the host's memory, to *p in the device's.
static inline __host__ curandStatus_t curandMakeMTGP32Constants(const mtgp32_params_fast_t params[],
                                                                mtgp32_kernel_params_t* p) {
  mtgp32_kernel_params_t* const gathered = static_cast<mtgp32_kernel_params_t*>(malloc(sizeof(*gathered)));
  if (!gathered) return CURAND_STATUS_ALLOCATION_FAILED;
  wg_mtgp32_gather(params, gathered);
  const curandStatus_t status = wg_mtgp32_copy(p, gathered, sizeof(*gathered));
  free(gathered);
  return status;
}

// The first n states of a seed, each with the set of its number, to s in the device's memory.
static inline __host__ curandStatus_t CURANDAPI curandMakeMTGP32KernelState(curandStateMtgp32_t* s,
                                                                            mtgp32_params_fast_t params[],
                                                                            mtgp32_kernel_params_t* k, int n,
                                                                            unsigned long long seed) {
  const size_t count = static_cast<size_t>(n);
  curandStateMtgp32_t* const states = static_cast<curandStateMtgp32_t*>(calloc(count, sizeof(*states)));
  if (!states) return CURAND_STATUS_ALLOCATION_FAILED;
  for (size_t i = 0; i < count; ++i) {
    wg_mtgp32_seed(states[i].s, &params[i], wg_mtgp32_word_of_seed(seed, static_cast<unsigned>(i)));
    states[i].pIdx = static_cast<int>(i);
    states[i].k = k;
  }
  const curandStatus_t status = wg_mtgp32_copy(s, states, count * sizeof(*states));
  free(states);
  return status;
}

#endif
