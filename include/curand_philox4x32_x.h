// Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
#ifndef CURAND_PHILOX4X32_X__H_
#define CURAND_PHILOX4X32_X__H_

#include "warpgrind/curand/host_functions.h"

struct curandStatePhilox4_32_10 {
  uint4 ctr;
  uint4 output;
  uint2 key;
  unsigned int STATE;  // how many of the four numbers in `output` are used up
  int boxmuller_flag;
  int boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

__device__ inline uint4 curand_Philox4x32_10(uint4 c, uint2 k) {
  for (int round = 0; round < 10; ++round) {
    const unsigned low0 = 0xd2511f53u * c.x;
    const unsigned high0 = __umulhi(0xd2511f53u, c.x);
    const unsigned low1 = 0xcd9e8d57u * c.z;
    const unsigned high1 = __umulhi(0xcd9e8d57u, c.z);
    c = make_uint4(high1 ^ c.y ^ k.x, low1, high0 ^ c.w ^ k.y, low0);
    k.x += 0x9e3779b9u;
    k.y += 0xbb67ae85u;
  }
  return c;
}

// The counter is one number of 128 bits; its upper half is the subsequence.
__device__ inline void wg_philox_add(uint4& c, unsigned long long low, unsigned long long high) {
  const unsigned long long lower = (static_cast<unsigned long long>(c.y) << 32 | c.x) + low;
  const unsigned long long upper = (static_cast<unsigned long long>(c.w) << 32 | c.z) + high + (lower < low ? 1 : 0);
  c = make_uint4(static_cast<unsigned>(lower), static_cast<unsigned>(lower >> 32), static_cast<unsigned>(upper),
                 static_cast<unsigned>(upper >> 32));
}

__device__ inline void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  state->STATE += static_cast<unsigned>(n & 3);
  n /= 4;
  if (state->STATE > 3) {
    ++n;
    state->STATE -= 4;
  }
  wg_philox_add(state->ctr, n, 0);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
__device__ inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  wg_philox_add(state->ctr, 0, n);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}

__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                   curandStatePhilox4_32_10_t* state) {
  state->ctr = make_uint4(0, 0, 0, 0);
  state->key = make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
  state->STATE = 0;
  state->boxmuller_flag = 0;
  state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
  wg_philox_add(state->ctr, 0, subsequence);
  skipahead(offset, state);
}

__device__ inline unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const uint4 v = state->output;
  const unsigned place = state->STATE++;
  const unsigned result = place == 0 ? v.x : place == 1 ? v.y : place == 2 ? v.z : v.w;
  if (state->STATE == 4) {
    wg_philox_add(state->ctr, 1, 0);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
    state->STATE = 0;
  }
  return result;
}

// The next four numbers, wherever the sequence stands.
__device__ inline uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 a = state->output;
  wg_philox_add(state->ctr, 1, 0);
  const uint4 b = state->output = curand_Philox4x32_10(state->ctr, state->key);
  switch (state->STATE) {
    case 0:
      return a;
    case 1:
      return make_uint4(a.y, a.z, a.w, b.x);
    case 2:
      return make_uint4(a.z, a.w, b.x, b.y);
    default:
      return make_uint4(a.w, b.x, b.y, b.z);
  }
}

#endif
