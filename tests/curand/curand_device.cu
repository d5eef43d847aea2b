// Results of curand_kernel.h, as lines "name: bits of the results ...", for every generator and distribution and
// several seeds, sequences and offsets. Compiled by nvcc and run on an H200 it made h200.txt.
#include <curand_kernel.h>

#include <cstring>

#include "printed.h"

namespace {

constexpr int threads = 4;
constexpr int draws = 8;

struct Case {
  unsigned long long seed, sequence, offset;
};
constexpr Case cases[] = {
    {0, 0, 0},
    {1, 0, 0},
    {1234, 0, 0},
    {1234ull << 32, 0, 0},
    {0x123456789abcdef0ull, 0, 0},
    {~0ull, 0, 0},
    {1234, 1, 0},
    {1234, 2, 0},
    {1234, 77777, 0},
    {1234, 0xffffffffull, 0},
    {1234, 1ull << 35, 0},
    {1234, 0, 1},
    {1234, 0, 2},
    {1234, 0, 3},
    {1234, 0, 1000},
    {1234, 0, (1ull << 40) + 5},
    {1234, 0, ~0ull},
    {99, 123456, 987654321},
};

struct Results {
  unsigned long long values[threads][draws * 4];
  int count[threads];
};

template <class State>
__device__ void start(State* state, Case c) {
  curand_init(c.seed, c.sequence + threadIdx.x, c.offset, state);
}

#define KERNEL(name, type, expression)                   \
  __global__ void name(Case c, Results* results) {       \
    type state;                                          \
    start(&state, c);                                    \
    Writer out{results->values[threadIdx.x], 0};         \
    for (int i = 0; i < draws; ++i) out.put(expression); \
    results->count[threadIdx.x] = out.count;             \
  }

#define GENERATOR(prefix, type)                                                           \
  KERNEL(prefix##_bits, type, curand(&state))                                             \
  KERNEL(prefix##_uniform, type, curand_uniform(&state))                                  \
  KERNEL(prefix##_uniform_double, type, curand_uniform_double(&state))                    \
  KERNEL(prefix##_normal, type, curand_normal(&state))                                    \
  KERNEL(prefix##_normal2, type, curand_normal2(&state))                                  \
  KERNEL(prefix##_normal_double, type, curand_normal_double(&state))                      \
  KERNEL(prefix##_normal2_double, type, curand_normal2_double(&state))                    \
  KERNEL(prefix##_log_normal, type, curand_log_normal(&state, 0.5f, 0.25f))               \
  KERNEL(prefix##_log_normal2, type, curand_log_normal2(&state, 0.5f, 0.25f))             \
  KERNEL(prefix##_log_normal_double, type, curand_log_normal_double(&state, 0.5, 0.25))   \
  KERNEL(prefix##_log_normal2_double, type, curand_log_normal2_double(&state, 0.5, 0.25)) \
  KERNEL(prefix##_poisson_small, type, curand_poisson(&state, 3.5))                       \
  KERNEL(prefix##_poisson_middle, type, curand_poisson(&state, 80.0))                     \
  KERNEL(prefix##_poisson_large, type, curand_poisson(&state, 5000.0))

GENERATOR(xorwow, curandState)
GENERATOR(mrg32k3a, curandStateMRG32k3a)
GENERATOR(philox, curandStatePhilox4_32_10_t)

KERNEL(philox_bits4, curandStatePhilox4_32_10_t, curand4(&state))
KERNEL(philox_uniform4, curandStatePhilox4_32_10_t, curand_uniform4(&state))
KERNEL(philox_uniform2_double, curandStatePhilox4_32_10_t, curand_uniform2_double(&state))
KERNEL(philox_normal4, curandStatePhilox4_32_10_t, curand_normal4(&state))
KERNEL(philox_log_normal4, curandStatePhilox4_32_10_t, curand_log_normal4(&state, 0.5f, 0.25f))
KERNEL(philox_poisson4, curandStatePhilox4_32_10_t, curand_poisson4(&state, 80.0))

// Mixed draws: what the single and the double Box-Muller pairs keep does not disturb the rest.
template <class State>
__device__ void mix(State* state, Writer& out) {
  for (int i = 0; i < 3; ++i) {
    out.put(curand_normal(state));
    out.put(curand(state));
    out.put(curand_normal_double(state));
    out.put(curand_uniform(state));
    out.put(curand_uniform_double(state));
  }
}
template <class State>
__device__ void skip(State* state, Writer& out) {
  out.put(curand(state));
  skipahead(5ull, state);
  out.put(curand(state));
  skipahead(1000003ull, state);
  out.put(curand(state));
  skipahead_sequence(3ull, state);
  out.put(curand(state));
}
#define PROCEDURE(name, type, function)            \
  __global__ void name(Case c, Results* results) { \
    type state;                                    \
    start(&state, c);                              \
    Writer out{results->values[threadIdx.x], 0};   \
    function(&state, out);                         \
    results->count[threadIdx.x] = out.count;       \
  }
PROCEDURE(xorwow_mix, curandState, mix)
PROCEDURE(mrg32k3a_mix, curandStateMRG32k3a, mix)
PROCEDURE(philox_mix, curandStatePhilox4_32_10_t, mix)
PROCEDURE(xorwow_skip, curandState, skip)
PROCEDURE(mrg32k3a_skip, curandStateMRG32k3a, skip)
PROCEDURE(philox_skip, curandStatePhilox4_32_10_t, skip)

__global__ void mrg32k3a_subsequence(Case c, Results* results) {
  curandStateMRG32k3a state;
  start(&state, c);
  Writer out{results->values[threadIdx.x], 0};
  skipahead_subsequence(3ull, &state);
  for (int i = 0; i < draws; ++i) out.put(curand(&state));
  results->count[threadIdx.x] = out.count;
}

// Quasi-random: direction numbers of the first dimensions are made here (Joe and Kuo's polynomials of dimensions 1 to
// 4), so that no library of the host is needed.
template <class Word>
struct Directions {
  Word v[threads][sizeof(Word) * 8];
};
template <class Word>
__global__ void make_directions(Directions<Word>* directions) {
  constexpr int bits = sizeof(Word) * 8;
  const int degree[] = {0, 1, 2, 3};
  const Word coefficients[] = {0, 0, 1, 1};
  const Word first[threads][3] = {{1}, {1}, {1, 3}, {1, 3, 1}};
  Word* v = directions->v[threadIdx.x];
  const int s = degree[threadIdx.x];
  for (int i = 0; i < bits; ++i) {
    if (s == 0) {
      v[i] = Word(1) << (bits - 1 - i);
    } else if (i < s) {
      v[i] = first[threadIdx.x][i] << (bits - 1 - i);
    } else {
      v[i] = v[i - s] ^ (v[i - s] >> s);
      for (int k = 1; k < s; ++k) v[i] ^= (coefficients[threadIdx.x] >> (s - 1 - k) & 1) * v[i - k];
    }
  }
}

__device__ Directions<unsigned> directions32;
__device__ Directions<unsigned long long> directions64;

__device__ void start(curandStateSobol32* state, Case c) {
  curand_init(directions32.v[threadIdx.x], static_cast<unsigned>(c.offset), state);
}
__device__ void start(curandStateScrambledSobol32* state, Case c) {
  curand_init(directions32.v[threadIdx.x], static_cast<unsigned>(c.seed), static_cast<unsigned>(c.offset), state);
}
__device__ void start(curandStateSobol64* state, Case c) {
  curand_init(directions64.v[threadIdx.x], c.offset, state);
}
__device__ void start(curandStateScrambledSobol64* state, Case c) {
  curand_init(directions64.v[threadIdx.x], c.seed, c.offset, state);
}
#define QUASI_GENERATOR(prefix, type)                                                   \
  KERNEL(prefix##_bits, type, curand(&state))                                           \
  KERNEL(prefix##_uniform, type, curand_uniform(&state))                                \
  KERNEL(prefix##_uniform_double, type, curand_uniform_double(&state))                  \
  KERNEL(prefix##_normal, type, curand_normal(&state))                                  \
  KERNEL(prefix##_normal_double, type, curand_normal_double(&state))                    \
  KERNEL(prefix##_log_normal, type, curand_log_normal(&state, 0.5f, 0.25f))             \
  KERNEL(prefix##_log_normal_double, type, curand_log_normal_double(&state, 0.5, 0.25)) \
  KERNEL(prefix##_poisson_small, type, curand_poisson(&state, 3.5))                     \
  KERNEL(prefix##_poisson_middle, type, curand_poisson(&state, 80.0))                   \
  KERNEL(prefix##_poisson_large, type, curand_poisson(&state, 5000.0))                  \
  __global__ void prefix##_skip(Case c, Results* results) {                             \
    type state;                                                                         \
    start(&state, c);                                                                   \
    Writer out{results->values[threadIdx.x], 0};                                        \
    for (int i = 0; i < draws; ++i) {                                                   \
      skipahead(5u + 1000u * i, &state);                                                \
      out.put(curand(&state));                                                          \
    }                                                                                   \
    results->count[threadIdx.x] = out.count;                                            \
  }
QUASI_GENERATOR(sobol32, curandStateSobol32)
QUASI_GENERATOR(scrambled_sobol32, curandStateScrambledSobol32)
QUASI_GENERATOR(sobol64, curandStateSobol64)
QUASI_GENERATOR(scrambled_sobol64, curandStateScrambledSobol64)

void run(const char* name, void (*kernel)(Case, Results*), Results* results) {
  for (const Case& c : cases) {
    cudaMemset(results, 0, sizeof(Results));
    kernel<<<1, threads>>>(c, results);
    complain(name);
    for (int thread = 0; thread < threads; ++thread) {
      std::printf("%s %llx %llx %llx:", name, c.seed, c.sequence + thread, c.offset);
      for (int i = 0; i < results->count[thread]; ++i) std::printf(" %llx", results->values[thread][i]);
      std::printf("\n");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Results* results;
  cudaMallocManaged(&results, sizeof(Results));
  Directions<unsigned>* d32;
  Directions<unsigned long long>* d64;
  cudaGetSymbolAddress(reinterpret_cast<void**>(&d32), directions32);
  cudaGetSymbolAddress(reinterpret_cast<void**>(&d64), directions64);
  make_directions<<<1, threads>>>(d32);
  make_directions<<<1, threads>>>(d64);
#define RUN(name) \
  if (argc < 2 || std::strstr(#name, argv[1]) != nullptr) run(#name, name, results)
#define RUN_GENERATOR(prefix)       \
  RUN(prefix##_bits);               \
  RUN(prefix##_uniform);            \
  RUN(prefix##_uniform_double);     \
  RUN(prefix##_normal);             \
  RUN(prefix##_normal2);            \
  RUN(prefix##_normal_double);      \
  RUN(prefix##_normal2_double);     \
  RUN(prefix##_log_normal);         \
  RUN(prefix##_log_normal2);        \
  RUN(prefix##_log_normal_double);  \
  RUN(prefix##_log_normal2_double); \
  RUN(prefix##_poisson_small);      \
  RUN(prefix##_poisson_middle);     \
  RUN(prefix##_poisson_large);      \
  RUN(prefix##_mix);                \
  RUN(prefix##_skip);
#define RUN_QUASI(prefix)          \
  RUN(prefix##_bits);              \
  RUN(prefix##_uniform);           \
  RUN(prefix##_uniform_double);    \
  RUN(prefix##_normal);            \
  RUN(prefix##_normal_double);     \
  RUN(prefix##_log_normal);        \
  RUN(prefix##_log_normal_double); \
  RUN(prefix##_poisson_small);     \
  RUN(prefix##_poisson_middle);    \
  RUN(prefix##_poisson_large);     \
  RUN(prefix##_skip);
  RUN_GENERATOR(xorwow);
  RUN_GENERATOR(mrg32k3a);
  RUN(mrg32k3a_subsequence);
  RUN_GENERATOR(philox);
  RUN(philox_bits4);
  RUN(philox_uniform4);
  RUN(philox_uniform2_double);
  RUN(philox_normal4);
  RUN(philox_log_normal4);
  RUN(philox_poisson4);
  RUN_QUASI(sobol32);
  RUN_QUASI(scrambled_sobol32);
  RUN_QUASI(sobol64);
  RUN_QUASI(scrambled_sobol64);
  return 0;
}
