// Results of MTGP32 in kernels, for every function that takes its state, and several seeds, sets of parameters and
// shapes of blocks. Compiled by nvcc 13.0 with NVIDIA's headers and run on warpgrind's virtual GPU, not on an H200, it
// made mtgp32.txt.
#include <curand_kernel.h>
#include <curand_mtgp32_host.h>

#include <cstring>

#include "printed.h"

namespace {

constexpr int rounds = 3;
constexpr int largest = 256;
constexpr unsigned long long seeds[] = {0, 1234, 0x123456789abcdef0ull, ~0ull};
constexpr int sets[] = {0, 1, 64, 199};
constexpr dim3 shapes[] = {{32}, {256}, {100}, {16, 8}, {8, 4, 8}};

struct Results {
  unsigned long long values[largest][rounds];
};

__device__ int thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

#define KERNEL(name, expression)                                       \
  __global__ void name(curandStateMtgp32_t* state, Results* results) { \
    Writer out{results->values[thread()], 0};                          \
    for (int i = 0; i < rounds; ++i) out.put(expression);              \
  }
KERNEL(mtgp32_bits, curand(state))
KERNEL(mtgp32_uniform, curand_uniform(state))
KERNEL(mtgp32_uniform_double, curand_uniform_double(state))
KERNEL(mtgp32_normal, curand_normal(state))
KERNEL(mtgp32_normal_double, curand_normal_double(state))
KERNEL(mtgp32_log_normal, curand_log_normal(state, 0.5f, 0.25f))
KERNEL(mtgp32_log_normal_double, curand_log_normal_double(state, 0.5, 0.25))
KERNEL(mtgp32_poisson_small, curand_poisson(state, 3.5))
KERNEL(mtgp32_poisson_80, curand_poisson(state, 80.0))
KERNEL(mtgp32_poisson_700, curand_poisson(state, 700.0))
KERNEL(mtgp32_poisson_large, curand_poisson(state, 5000.0))
// From the last thread to the first, for blocks of up to 255.
KERNEL(mtgp32_specific, curand_mtgp32_specific(state, blockDim.x - 1 - threadIdx.x, blockDim.x))
// A block that draws from two states.
KERNEL(mtgp32_two, curand_mtgp32_specific(state + thread() / 50, thread() % 50, 50))
// In one warp alone: in others its numbers depend on the order of warps.
KERNEL(mtgp32_single, curand_mtgp32_single(state))
KERNEL(mtgp32_single_specific, curand_mtgp32_single_specific(state, threadIdx.x, blockDim.x))

// Every set, 1024 numbers of each: their FNV-1a digest.
__global__ void mtgp32_every_set(curandStateMtgp32_t* states, unsigned long long* digests) {
  __shared__ unsigned drawn[largest];
  unsigned long long digest = 0xcbf29ce484222325ull;
  for (int i = 0; i < 4; ++i) {
    drawn[threadIdx.x] = curand(&states[blockIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0)
      for (unsigned number : drawn) digest = (digest ^ number) * 0x100000001b3ull;
    __syncthreads();
  }
  if (threadIdx.x == 0) digests[blockIdx.x] = digest;
}

struct Generator {
  curandStateMtgp32_t* states;
  mtgp32_kernel_params_t* parameters;
  Generator() {
    cudaMalloc(&states, CURAND_NUM_MTGP32_PARAMS * sizeof(*states));
    cudaMalloc(&parameters, sizeof(*parameters));
    if (curandMakeMTGP32Constants(mtgp32dc_params_fast_11213, parameters) != CURAND_STATUS_SUCCESS)
      std::puts("no constants");
  }
  ~Generator() {
    cudaFree(states);
    cudaFree(parameters);
  }
  void start(unsigned long long seed) const {
    if (curandMakeMTGP32KernelState(states, mtgp32dc_params_fast_11213, parameters, CURAND_NUM_MTGP32_PARAMS, seed) !=
        CURAND_STATUS_SUCCESS)
      std::puts("no states");
  }
};

using Kernel = void (*)(curandStateMtgp32_t*, Results*);

// Prints what seven threads drew, from the first to the last.
void run(const char* name, Kernel kernel, dim3 shape, unsigned long long seed, int set, const Generator& generator,
         Results* results) {
  generator.start(seed);
  kernel<<<1, shape>>>(generator.states + set, results);
  complain(name);
  std::printf("%s %llx %d %ux%ux%u:", name, seed, set, shape.x, shape.y, shape.z);
  const int threads = shape.x * shape.y * shape.z;
  for (int i = 0; i < 7; ++i)
    for (const unsigned long long value : results->values[(threads - 1) * i / 6]) std::printf(" %llx", value);
  std::printf("\n");
}

void every_set(const Generator& generator, unsigned long long* digests) {
  for (const unsigned long long seed : seeds) {
    generator.start(seed);
    mtgp32_every_set<<<CURAND_NUM_MTGP32_PARAMS, largest>>>(generator.states, digests);
    complain("mtgp32_every_set");
    for (int set = 0; set < CURAND_NUM_MTGP32_PARAMS; ++set)
      std::printf("mtgp32_every_set %llx %d: %llx\n", seed, set, digests[set]);
  }
}

}  // namespace

int main() {
  const Generator generator;
  Results* results;
  unsigned long long* digests;
  cudaMallocManaged(&results, sizeof(Results));
  cudaMallocManaged(&digests, CURAND_NUM_MTGP32_PARAMS * sizeof(*digests));
  for (const dim3 shape : shapes)
    for (const unsigned long long seed : seeds)
      for (const int set : sets) run("mtgp32_bits", mtgp32_bits, shape, seed, set, generator, results);
#define RUN(name) \
  for (const int set : sets) run(#name, name, 256, 1234, set, generator, results)
  RUN(mtgp32_uniform);
  RUN(mtgp32_uniform_double);
  RUN(mtgp32_normal);
  RUN(mtgp32_normal_double);
  RUN(mtgp32_log_normal);
  RUN(mtgp32_log_normal_double);
  RUN(mtgp32_poisson_small);
  RUN(mtgp32_poisson_80);
  RUN(mtgp32_poisson_700);
  RUN(mtgp32_poisson_large);
#undef RUN
  for (const unsigned threads : {255u, 100u, 32u, 1u})
    run("mtgp32_specific", mtgp32_specific, threads, 99, 7, generator, results);
  run("mtgp32_two", mtgp32_two, 100, 99, 7, generator, results);
  for (const int set : sets) {
    run("mtgp32_single", mtgp32_single, 32, 99, set, generator, results);
    run("mtgp32_single_specific", mtgp32_single_specific, 32, 99, set, generator, results);
  }
  every_set(generator, digests);
  return 0;
}
