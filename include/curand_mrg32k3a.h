// MRG32k3a: L'Ecuyer's combined multiple recursive generator ("Good parameters and implementations for combined
// multiple recursive random number generators", 1999).
#ifndef CURAND_MRG32K3A_H_
#define CURAND_MRG32K3A_H_

#include "warpgrind/curand/jumps.inc"

struct curandStateMRG32k3a {
  unsigned int s1[3];
  unsigned int s2[3];
  int boxmuller_flag;
  int boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

#define WG_MRG32K3A_M1 4294967087ull
#define WG_MRG32K3A_M2 4294944443ull

// The next number, from 1 to m1.
__device__ inline unsigned int wg_mrg32k3a_next(curandStateMRG32k3a_t* state) {
  const unsigned long long m1 = WG_MRG32K3A_M1;
  const unsigned long long m2 = WG_MRG32K3A_M2;
  unsigned* const a = state->s1;
  unsigned* const b = state->s2;
  const unsigned first = static_cast<unsigned>((1403580ull * a[1] + 810728ull * (m1 - a[0])) % m1);
  const unsigned second = static_cast<unsigned>((527612ull * b[2] + 1370589ull * (m2 - b[0])) % m2);
  a[0] = a[1], a[1] = a[2], a[2] = first;
  b[0] = b[1], b[1] = b[2], b[2] = second;
  return first > second ? first - second : static_cast<unsigned>(first + m1 - second);
}

__device__ inline unsigned int curand(curandStateMRG32k3a_t* state) {
  return static_cast<unsigned>(wg_mrg32k3a_next(state) * 1.000000048662);  // m1 numbers over all of 32 bits
}

__device__ inline void wg_mrg32k3a_multiply(unsigned (&s)[3], const unsigned* matrix, unsigned long long m) {
  unsigned result[3];
  for (int row = 0; row < 3; ++row) {
    unsigned long long sum = 0;
    for (int i = 0; i < 3; ++i) sum += static_cast<unsigned long long>(matrix[3 * row + i]) * s[i] % m;
    result[row] = static_cast<unsigned>(sum % m);
  }
  for (int i = 0; i < 3; ++i) s[i] = result[i];
}
// n times 2^first steps.
__device__ inline void wg_mrg32k3a_jump(curandStateMRG32k3a_t* state, unsigned long long n, int first) {
#pragma unroll 1
  for (; n != 0; n >>= 1, ++first) {
    if ((n & 1) == 0) continue;
    wg_mrg32k3a_multiply(state->s1, wg_mrg32k3a_jumps[first], WG_MRG32K3A_M1);
    wg_mrg32k3a_multiply(state->s2, wg_mrg32k3a_jumps[first] + 9, WG_MRG32K3A_M2);
  }
}
__device__ inline void skipahead(unsigned long long n, curandStateMRG32k3a_t* state) {
  wg_mrg32k3a_jump(state, n, 0);
}
__device__ inline void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  wg_mrg32k3a_jump(state, n, 76);
}
__device__ inline void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  wg_mrg32k3a_jump(state, n, 127);
}

__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                   curandStateMRG32k3a_t* state) {
  const unsigned long long low = seed == 0 ? 1 : static_cast<unsigned>(seed) ^ 0x55555555u;
  const unsigned long long high = seed == 0 ? 1 : static_cast<unsigned>(seed >> 32) ^ 0xaaaaaaaau;
  state->s1[0] = state->s1[2] = static_cast<unsigned>(low * 12345 % WG_MRG32K3A_M1);
  state->s1[1] = static_cast<unsigned>(high * 12345 % WG_MRG32K3A_M1);
  state->s2[0] = state->s2[2] = static_cast<unsigned>(high * 12345 % WG_MRG32K3A_M2);
  state->s2[1] = static_cast<unsigned>(low * 12345 % WG_MRG32K3A_M2);
  skipahead_subsequence(subsequence, state);
  skipahead(offset, state);
  state->boxmuller_flag = 0;
  state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
}

#undef WG_MRG32K3A_M1
#undef WG_MRG32K3A_M2

#endif
