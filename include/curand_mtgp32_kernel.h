// MTGP32 in kernels: one generator serves a block of at most 256 threads, all of which must call together.
#ifndef CURAND_MTGP32_KERNEL_H
#define CURAND_MTGP32_KERNEL_H

#include <cuda_runtime.h>
#if __has_include("curand.h")
#include "curand.h"
#endif
#include "curand_mtgp32.h"

#ifdef __CUDACC__
#include "warpgrind/curand/mtgp32.h"

// All draw before the state moves on, and it has moved before one draws again.
__device__ inline void wg_mtgp32_move(curandStateMtgp32_t* state, bool by_me, unsigned int n) {
  __syncthreads();
  if (by_me) wg_mtgp32_advance(state, n);
  __syncthreads();
}

__device__ inline unsigned int wg_mtgp32_block() {
  return blockDim.x * blockDim.y * blockDim.z;
}

// The place of a thread is cuRAND's, which is its number in the block where that has one layer, or is as wide as it has
// layers: programs shall draw NVIDIA's numbers in other blocks too.
__device__ inline unsigned int curand(curandStateMtgp32_t* state) {
  const unsigned t = blockDim.z * blockDim.y * threadIdx.z + blockDim.x * threadIdx.y + threadIdx.x;
  const unsigned number = wg_mtgp32_draw(state, t);
  wg_mtgp32_move(state, t == 0, wg_mtgp32_block());
  return number;
}

// Number `index` of n that the block draws from this state.
__device__ inline unsigned int curand_mtgp32_specific(curandStateMtgp32_t* state, unsigned char index,
                                                      unsigned char n) {
  const unsigned number = wg_mtgp32_draw(state, index);
  wg_mtgp32_move(state, index == 0, n);
  return number;
}

// A float of [1, 2), whatever the documentation says of (0, 1]. cuRAND keeps the new word at place t of the ring
// itself, not behind the others, and lets every thread with x = 0 move the state: these are its numbers. They depend on
// the order of warps in larger blocks, and on words that nobody wrote after some 351 draws.
__device__ inline float wg_mtgp32_draw_single(curandStateMtgp32_t* state, unsigned int t, unsigned int n) {
  const unsigned next = wg_mtgp32_next(state, t);
  state->s[t] = next;
  const unsigned number = (next >> 9) ^ state->k->single_temper_tbl[state->pIdx][wg_mtgp32_row(state, t)];
  wg_mtgp32_move(state, threadIdx.x == 0, n);
  return __uint_as_float(number);
}
__device__ inline float curand_mtgp32_single(curandStateMtgp32_t* state) {
  return wg_mtgp32_draw_single(state, blockDim.z * blockDim.y + threadIdx.x, wg_mtgp32_block());
}
__device__ inline float curand_mtgp32_single_specific(curandStateMtgp32_t* state, unsigned char index,
                                                      unsigned char n) {
  return wg_mtgp32_draw_single(state, index, n);
}
#else
unsigned int curand(curandStateMtgp32_t* state);  // nowhere: a state needs a block
#endif

#endif
