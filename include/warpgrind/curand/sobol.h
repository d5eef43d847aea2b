// Sobol quasi-random sequences in Gray code order (Antonov and Saleev 1979): 32 and 64 bits, plain and scrambled by
// exclusive or. The caller provides the direction numbers (cuRAND's host library has Joe and Kuo's).
#pragma once

#include "host_functions.h"

typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

#define WG_SOBOL_STATE(name, word, vectors) \
  struct curandState##name {                \
    word i, x, c;                           \
    vectors direction_vectors;              \
  };                                        \
  typedef struct curandState##name curandState##name##_t;
WG_SOBOL_STATE(Sobol32, unsigned int, curandDirectionVectors32_t)
WG_SOBOL_STATE(ScrambledSobol32, unsigned int, curandDirectionVectors32_t)
WG_SOBOL_STATE(Sobol64, unsigned long long, curandDirectionVectors64_t)
WG_SOBOL_STATE(ScrambledSobol64, unsigned long long, curandDirectionVectors64_t)
#undef WG_SOBOL_STATE

// Moves from point i to point i + n: applies the direction numbers of the bits in which their Gray codes differ.
template <class State, class Word>
__device__ inline void wg_sobol_skip(State* state, Word n) {
  const Word from = state->i ^ (state->i >> 1);
  state->i += n;
  Word changed = from ^ state->i ^ (state->i >> 1);
  for (int bit = 0; changed != 0; ++bit, changed >>= 1) {
    if (changed & 1) state->x ^= state->direction_vectors[bit];
  }
}
template <class State, class Word>
__device__ inline void wg_sobol_init(const Word* vectors, Word scramble, Word offset, State* state) {
  state->i = 0;
  state->x = state->c = scramble;
  for (unsigned bit = 0; bit < sizeof(Word) * 8; ++bit) state->direction_vectors[bit] = vectors[bit];
  wg_sobol_skip(state, offset);
}
// Returns the current point and moves to the next, by the direction number of the lowest zero bit of i. The first point
// follows the last.
template <class State>
__device__ inline auto wg_sobol_next(State* state) {
  const auto result = state->x;
  const int bits = sizeof(result) * 8;
  const int clear = __ffsll(~static_cast<long long>(state->i)) - 1;
  state->x ^= state->direction_vectors[clear >= 0 && clear < bits ? clear : bits - 1];
  state->i += 1;
  return result;
}

#define WG_SOBOL(name, word)                                                 \
  __device__ inline word curand(curandState##name##_t* state) {              \
    return wg_sobol_next(state);                                             \
  }                                                                          \
  template <class Number>                                                    \
  __device__ inline void skipahead(Number n, curandState##name##_t* state) { \
    wg_sobol_skip(state, static_cast<word>(n));                              \
  }
WG_SOBOL(Sobol32, unsigned int)
WG_SOBOL(ScrambledSobol32, unsigned int)
WG_SOBOL(Sobol64, unsigned long long)
WG_SOBOL(ScrambledSobol64, unsigned long long)
#undef WG_SOBOL

__device__ inline void curand_init(const unsigned int* vectors, unsigned int offset, curandStateSobol32_t* state) {
  wg_sobol_init(vectors, 0u, offset, state);
}
__device__ inline void curand_init(const unsigned int* vectors, unsigned int scramble, unsigned int offset,
                                   curandStateScrambledSobol32_t* state) {
  wg_sobol_init(vectors, scramble, offset, state);
}
__device__ inline void curand_init(const unsigned long long* vectors, unsigned long long offset,
                                   curandStateSobol64_t* state) {
  wg_sobol_init(vectors, 0ull, offset, state);
}
__device__ inline void curand_init(const unsigned long long* vectors, unsigned long long scramble,
                                   unsigned long long offset, curandStateScrambledSobol64_t* state) {
  wg_sobol_init(vectors, scramble, offset, state);
}
