// Monte Carlo with generators in the kernel: pi from points in the unit square, by XORWOW and by Philox.
#include <curand_kernel.h>

#include <vector>

#include "check.h"

constexpr int kThreads = 64, kBlocks = 16, kPoints = 500;

template <class State>
__global__ void set_up(State* states, unsigned long long seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(seed, i, 0, &states[i]);
}
// The state goes into a register and comes back, so that a second launch goes on where the first ended.
template <class State>
__global__ void count_points(State* states, unsigned int* inside) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  State state = states[i];
  unsigned int hits = 0;
  for (int k = 0; k < kPoints; k++) {
    const float x = curand_uniform(&state), y = curand_uniform(&state);
    hits += x * x + y * y <= 1.0f;
  }
  states[i] = state;
  atomicAdd(inside, hits);
}
// What a sequence continues with after some numbers is what it begins with at that offset.
template <class State>
__global__ void compare_offset(State* states, unsigned int* different) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  State state;
  curand_init(2024ULL, i, 4 * kPoints, &state);
  if (curand(&state) != curand(&states[i])) atomicAdd(different, 1u);
}
// Sum and sum of squares of normal numbers, four at a time.
__global__ void normals(double* sums) {
  curandStatePhilox4_32_10_t state;
  curand_init(7ULL, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
  double sum = 0, squares = 0;
  for (int k = 0; k < 50; k++) {
    const float4 v = curand_normal4(&state);
    sum += v.x + v.y + v.z + v.w;
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  atomicAdd(&sums[0], sum);
  atomicAdd(&sums[1], squares);
}

template <class State>
double estimate(const char* name) {
  const int threads = kThreads * kBlocks;
  State* states;
  unsigned int *counts, host[2];
  CHECK(cudaMalloc(&states, threads * sizeof(State)));
  CHECK(cudaMalloc(&counts, sizeof host));
  CHECK(cudaMemset(counts, 0, sizeof host));
  set_up<<<kBlocks, kThreads>>>(states, 2024ULL);
  for (int launch = 0; launch < 2; launch++) count_points<<<kBlocks, kThreads>>>(states, &counts[0]);
  compare_offset<<<kBlocks, kThreads>>>(states, &counts[1]);
  CHECK(cudaMemcpy(host, counts, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(states));
  CHECK(cudaFree(counts));
  expect_equal("threads whose sequence differs", 0, host[1], 0);
  const double points = 2.0 * threads * kPoints, pi = 4 * host[0] / points;
  // The standard deviation of the estimate is sqrt(pi (4 - pi) / points) = 0.0016: five of them.
  expect(std::fabs(pi - 3.14159265358979) < 5 * std::sqrt(2.697 / points), name, 0, pi, 3.14159265358979);
  std::printf("%-8s pi is about %.5f\n", name, pi);
  return pi;
}

int main() {
  const double one = estimate<curandState>("XORWOW"), other = estimate<curandStatePhilox4_32_10_t>("Philox");
  expect(one != other, "two generators", 0, one, other);
  double *sums, host[2];
  CHECK(cudaMalloc(&sums, sizeof host));
  CHECK(cudaMemset(sums, 0, sizeof host));
  normals<<<8, 64>>>(sums);
  CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
  const double n = 8 * 64 * 50 * 4;
  expect(std::fabs(host[0] / n) < 5 / std::sqrt(n), "mean of normals", 0, host[0] / n, 0);
  expect(std::fabs(host[1] / n - 1) < 5 * std::sqrt(2 / n), "variance of normals", 0, host[1] / n, 1);
  std::printf("curand_pi: right\n");
}
