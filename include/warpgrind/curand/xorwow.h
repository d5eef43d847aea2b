// XORWOW generator: Marsaglia's xorshift with a Weyl sequence ("Xorshift RNGs", 2003).
#pragma once

#include "jumps.inc"

struct curandStateXORWOW {
  unsigned int d;  // the Weyl sequence
  unsigned int v[5];
  int boxmuller_flag;
  int boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

__device__ inline void wg_xorwow_step(unsigned (&v)[5]) {
  const unsigned t = v[0] ^ (v[0] >> 2);
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}

__device__ inline unsigned int curand(curandStateXORWOW_t* state) {
  wg_xorwow_step(state->v);
  state->d += 362437;
  return state->v[4] + state->d;
}

// Advances the xorshift part by n units: of one step with the offset table, of 2^67 steps with the sequence table. For
// each hexadecimal digit of n, the new state is the exclusive-or sum of the states that the digit's polynomial selects.
__device__ inline void wg_xorwow_jump(unsigned (&v)[5], unsigned long long n, const unsigned (*jumps)[5]) {
#pragma unroll 1
  for (; n != 0; n >>= 4, jumps += 15) {
    const unsigned digit = static_cast<unsigned>(n & 15);
    if (digit == 0) continue;
    unsigned sum[5] = {0, 0, 0, 0, 0};
#pragma unroll 1
    for (int word = 0; word < 5; ++word) {
      unsigned polynomial = jumps[digit - 1][word];
#pragma unroll 1
      for (int bit = 0; bit < 32; ++bit, polynomial >>= 1) {
        const unsigned chosen = 0u - (polynomial & 1);
        for (int i = 0; i < 5; ++i) sum[i] ^= v[i] & chosen;
        wg_xorwow_step(v);
      }
    }
    for (int i = 0; i < 5; ++i) v[i] = sum[i];
  }
}

__device__ inline void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
  wg_xorwow_jump(state->v, n, wg_xorwow_offset_jumps);
  state->d += 362437 * static_cast<unsigned>(n);
}

// Sequences are 2^67 apart, a multiple of the Weyl sequence's period, so `d` stays the same.
__device__ inline void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
  wg_xorwow_jump(state->v, n, wg_xorwow_sequence_jumps);
}

__device__ inline void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                                   curandStateXORWOW_t* state) {
  const unsigned low = 1099087573u * (static_cast<unsigned>(seed) ^ 0xaad26b49u);
  const unsigned high = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu);
  state->d = 6615241u + high + low;
  state->v[0] = 123456789u + low;
  state->v[1] = 362436069u ^ low;
  state->v[2] = 521288629u + high;
  state->v[3] = 88675123u ^ high;
  state->v[4] = 5783321u + low;
  skipahead_sequence(sequence, state);
  skipahead(offset, state);
  state->boxmuller_flag = 0;
  state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
}
