// Results of curand_discrete() for every generator. The tables of the distributions are written here, so that no host
// library is needed. Compiled by nvcc 13.0 with NVIDIA's headers and run on warpgrind's virtual GPU, not on an H200,
// it made discrete.txt.
#include <curand_kernel.h>
#include <curand_mtgp32_host.h>

#include "printed.h"

namespace {

constexpr int draws = 16;
constexpr int columns = 5;

struct Distribution {
  curandDiscreteDistribution_st distribution;
  curandDistributionM2Shift_st table;
  curandHistogramM2_st histogram;
  double below[columns + 1];
  unsigned above[columns + 1];
};

// The values 100 to 104.
__global__ void make(Distribution* d, curandMethod_t method) {
  const double part_of_own[columns] = {0.5, 1, 0.25, 0.75, 0.0625};
  const unsigned other[columns] = {1, 1, 4, 0, 3};
  for (int i = 0; i < columns; ++i) {
    d->below[i] = (i + part_of_own[i]) / columns;
    d->above[i] = other[i];
  }
  d->below[columns] = 0;
  d->above[columns] = 2;
  d->histogram.V = d->below;
  d->histogram.K = d->above;
  d->table.histogram = &d->histogram;
  d->table.shift = 100;
  d->table.length = columns;
  d->distribution.M2 = &d->table;
  d->distribution.mean = 1000;
  d->distribution.stddev = 30;
  d->distribution.method = method;
}

struct Results {
  unsigned long long values[draws * 4];
  int count;
};

__device__ unsigned directions32[32];
__device__ unsigned long long directions64[64];

// The first dimension of Sobol's sequence.
__global__ void make_directions() {
  for (int i = 0; i < 32; ++i) directions32[i] = 1u << (31 - i);
  for (int i = 0; i < 64; ++i) directions64[i] = 1ull << (63 - i);
}

template <class State>
__device__ void start(State* state) {
  curand_init(1234, 5, 6, state);
}
__device__ void start(curandStateSobol32* state) {
  curand_init(directions32, 1000, state);
}
__device__ void start(curandStateScrambledSobol32* state) {
  curand_init(directions32, 0xdeadbeef, 1000, state);
}
__device__ void start(curandStateSobol64* state) {
  curand_init(directions64, 1000, state);
}
__device__ void start(curandStateScrambledSobol64* state) {
  curand_init(directions64, 0xdeadbeefcafef00dull, 1000, state);
}

#define KERNEL(name, type, function)                                       \
  __global__ void name(curandDiscreteDistribution_t d, Results* results) { \
    type state;                                                            \
    start(&state);                                                         \
    Writer out{results->values, 0};                                        \
    for (int i = 0; i < draws; ++i) out.put(function(&state, d));          \
    results->count = out.count;                                            \
  }
KERNEL(discrete_xorwow, curandStateXORWOW_t, curand_discrete)
KERNEL(discrete_mrg32k3a, curandStateMRG32k3a_t, curand_discrete)
KERNEL(discrete_philox, curandStatePhilox4_32_10_t, curand_discrete)
KERNEL(discrete4_philox, curandStatePhilox4_32_10_t, curand_discrete4)
KERNEL(discrete_sobol32, curandStateSobol32_t, curand_discrete)
KERNEL(discrete_scrambled_sobol32, curandStateScrambledSobol32_t, curand_discrete)
KERNEL(discrete_sobol64, curandStateSobol64_t, curand_discrete)
KERNEL(discrete_scrambled_sobol64, curandStateScrambledSobol64_t, curand_discrete)

__global__ void discrete_mtgp32(curandStateMtgp32_t* state, curandDiscreteDistribution_t d, Results* results) {
  for (int i = 0; i < draws; ++i) {
    const unsigned value = curand_discrete(state, d);
    if (threadIdx.x == 17) results->values[i] = value;
  }
  results->count = draws;
}

void print(const char* name, const char* method, const Results& results) {
  complain(name);
  std::printf("%s %s:", name, method);
  for (int i = 0; i < results.count; ++i) std::printf(" %llx", results.values[i]);
  std::printf("\n");
}

void run_mtgp32(const char* method, curandDiscreteDistribution_t d, Results* results) {
  curandStateMtgp32_t* states;
  mtgp32_kernel_params_t* parameters;
  cudaMalloc(&states, sizeof(*states));
  cudaMalloc(&parameters, sizeof(*parameters));
  curandMakeMTGP32Constants(mtgp32dc_params_fast_11213, parameters);
  curandMakeMTGP32KernelState(states, mtgp32dc_params_fast_11213, parameters, 1, 1234);
  discrete_mtgp32<<<1, 64>>>(states, d, results);
  print("discrete_mtgp32", method, *results);
  cudaFree(states);
  cudaFree(parameters);
}

}  // namespace

int main() {
  Results* results;
  Distribution* made;
  cudaMallocManaged(&results, sizeof(Results));
  cudaMalloc(&made, sizeof(Distribution));
  make_directions<<<1, 1>>>();
  for (const curandMethod_t chosen : {CURAND_M2, CURAND_DISCRETE_GAUSS}) {
    const char* const method = chosen == CURAND_M2 ? "table" : "normal";
    make<<<1, 1>>>(made, chosen);
#define RUN(name)                               \
  name<<<1, 1>>>(&made->distribution, results); \
  print(#name, method, *results)
    RUN(discrete_xorwow);
    RUN(discrete_mrg32k3a);
    RUN(discrete_philox);
    RUN(discrete4_philox);
    RUN(discrete_sobol32);
    RUN(discrete_scrambled_sobol32);
    RUN(discrete_sobol64);
    RUN(discrete_scrambled_sobol64);
    run_mtgp32(method, &made->distribution, results);
  }
  return 0;
}
