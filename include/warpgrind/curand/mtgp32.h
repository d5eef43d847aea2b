// MTGP32 itself: what a state begins with, and one word of its recursion. Kernels call it through
// curand_mtgp32_kernel.h, the library of the host (libcurand) through its generators.
#pragma once

#include "curand_mtgp32.h"

// As Saito's mtgp32_init_state: the set itself is part of the seed, so that equal seeds of two sets differ. The rest of
// the ring is written before it is read.
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

// State number `index` of a seed of 64 bits.
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

// The word that follows the 351 from place `t` on.
__host__ __device__ inline unsigned int wg_mtgp32_next(curandStateMtgp32_t* state, unsigned int t) {
  const mtgp32_kernel_params_t& k = *state->k;
  const int set = state->pIdx;
  unsigned x = (wg_mtgp32_word(state, t) & k.mask[0]) ^ wg_mtgp32_word(state, t + 1);
  x ^= x << k.sh1_tbl[set];
  const unsigned y = x ^ (wg_mtgp32_word(state, t + k.pos_tbl[set]) >> k.sh2_tbl[set]);
  return y ^ k.param_tbl[set][y & 15];
}

// The row of a tempering table that another word of the state chooses.
__host__ __device__ inline unsigned int wg_mtgp32_row(curandStateMtgp32_t* state, unsigned int t) {
  unsigned chooser = wg_mtgp32_word(state, t + state->k->pos_tbl[state->pIdx] - 1);
  chooser ^= chooser >> 16;
  chooser ^= chooser >> 8;
  return chooser & 15;
}

// Number t from here; the state does not yet move on.
__host__ __device__ inline unsigned int wg_mtgp32_draw(curandStateMtgp32_t* state, unsigned int t) {
  const unsigned next = wg_mtgp32_next(state, t);
  wg_mtgp32_word(state, t + MTGPDC_N) = next;
  return next ^ state->k->temper_tbl[state->pIdx][wg_mtgp32_row(state, t)];
}

__host__ __device__ inline void wg_mtgp32_advance(curandStateMtgp32_t* state, unsigned int n) {
  state->offset = static_cast<int>((static_cast<unsigned>(state->offset) + n) & MTGP32_STATE_MASK);
}
