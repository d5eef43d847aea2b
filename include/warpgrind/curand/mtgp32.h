// MTGP32 generator: initial state and recursion. Kernels use it through curand_mtgp32_kernel.h, the host library
// (libcurand) through its generators.
#pragma once

#include "curand_mtgp32.h"

// Initial state, as in Saito's mtgp32_init_state. The parameter set is part of the seed, so that equal seeds give
// different states for two sets. The rest of the ring is written before it is read.
__host__ __device__ inline void wg_mtgp32_seed(unsigned int* state, const mtgp32_params_fast_t* set,
                                               unsigned int seed) {
  const unsigned hidden = set->tbl[4] ^ (set->tbl[8] << 16);
  unsigned fill = hidden + (hidden >> 16);
  fill = (fill + (fill >> 8)) & 0xff;
  state[0] = seed;
  state[1] = hidden;
  for (unsigned i = 2; i < MTGPDC_N; ++i) state[i] = fill * 0x01010101u;
  for (unsigned i = 1; i < MTGPDC_N; ++i) state[i] ^= 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
}

// 32-bit seed of state number `index`, from a 64-bit seed.
__host__ __device__ inline unsigned int wg_mtgp32_word_of_seed(unsigned long long seed, unsigned int index) {
  return static_cast<unsigned>(seed ^ (seed >> 32)) + index + 1;
}

inline void wg_mtgp32_gather(const mtgp32_params_fast_t* sets, mtgp32_kernel_params_t* to) {
  for (int i = 0; i < CURAND_NUM_MTGP32_PARAMS; ++i) {
    to->pos_tbl[i] = static_cast<unsigned>(sets[i].pos);
    to->sh1_tbl[i] = static_cast<unsigned>(sets[i].sh1);
    to->sh2_tbl[i] = static_cast<unsigned>(sets[i].sh2);
    for (int j = 0; j < TBL_SIZE; ++j) {
      to->param_tbl[i][j] = sets[i].tbl[j];
      to->temper_tbl[i][j] = sets[i].tmp_tbl[j];
      to->single_temper_tbl[i][j] = sets[i].flt_tmp_tbl[j];
    }
  }
  to->mask[0] = sets[0].mask;
}

__host__ __device__ inline unsigned int& wg_mtgp32_word(curandStateMtgp32_t* state, unsigned int place) {
  return state->s[(place + static_cast<unsigned>(state->offset)) & MTGP32_STATE_MASK];
}

// Word that follows the 351 words at places t to t + 350.
__host__ __device__ inline unsigned int wg_mtgp32_next(curandStateMtgp32_t* state, unsigned int t) {
  const mtgp32_kernel_params_t& k = *state->k;
  const int set = state->pIdx;
  unsigned x = (wg_mtgp32_word(state, t) & k.mask[0]) ^ wg_mtgp32_word(state, t + 1);
  x ^= x << k.sh1_tbl[set];
  const unsigned y = x ^ (wg_mtgp32_word(state, t + k.pos_tbl[set]) >> k.sh2_tbl[set]);
  return y ^ k.param_tbl[set][y & 15];
}

// Row of the tempering table, chosen by another word of the state.
__host__ __device__ inline unsigned int wg_mtgp32_row(curandStateMtgp32_t* state, unsigned int t) {
  unsigned chooser = wg_mtgp32_word(state, t + state->k->pos_tbl[state->pIdx] - 1);
  chooser ^= chooser >> 16;
  chooser ^= chooser >> 8;
  return chooser & 15;
}

// Random number `t` from the current position. Does not move the position: see wg_mtgp32_advance().
__host__ __device__ inline unsigned int wg_mtgp32_draw(curandStateMtgp32_t* state, unsigned int t) {
  const unsigned next = wg_mtgp32_next(state, t);
  wg_mtgp32_word(state, t + MTGPDC_N) = next;
  return next ^ state->k->temper_tbl[state->pIdx][wg_mtgp32_row(state, t)];
}

__host__ __device__ inline void wg_mtgp32_advance(curandStateMtgp32_t* state, unsigned int n) {
  state->offset = static_cast<int>((static_cast<unsigned>(state->offset) + n) & MTGP32_STATE_MASK);
}
