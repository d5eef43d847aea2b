// Runs every function of functions.inc over its samples and writes the results' bits:
//   device_math COUNT FILE
// Compiled by nvcc or by clang, run on a GPU or under warpgrind; reference.cpp says how good the results are.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "samples.h"

using f32 = float;
using f64 = double;

#define first_of(function, x) \
  ([=] {                      \
    decltype(x) a, b;         \
    function(x, &a, &b);      \
    return a;                 \
  }())
#define second_of(function, x) \
  ([=] {                       \
    decltype(x) a, b;          \
    function(x, &a, &b);       \
    return b;                  \
  }())
#define rest_of(function, x, y) \
  ([=] {                        \
    int q;                      \
    return function(x, y, &q);  \
  }())
#define quotient_of(function, x, y)   \
  ([=]() -> decltype(x) {             \
    int q;                            \
    function(x, y, &q);               \
    return q < 0 ? -(-q & 7) : q & 7; \
  }())
#define fraction_of(function, x) \
  ([=] {                         \
    int e;                       \
    return function(x, &e);      \
  }())
#define first_part_of(function, x) \
  ([=] {                           \
    decltype(x) whole;             \
    return function(x, &whole);    \
  }())
#define of_vector(function, ...)           \
  ([=] {                                   \
    const decltype(x) v[] = {__VA_ARGS__}; \
    return function(4, v);                 \
  }())

template <class T>
__device__ int integer(T x) {
  return x >= -1e6 && x <= 1e6 ? static_cast<int>(x) : 0;
}

#define MATH(name, precision, arguments, call, reference, bound, rule, low, high) \
  __global__ void run_##name(const precision* in, precision* out, unsigned n) {   \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                     \
    if (i >= n) return;                                                           \
    [[maybe_unused]] precision x = in[i];                                         \
    [[maybe_unused]] precision y = arguments > 1 ? in[n + i] : 0;                 \
    [[maybe_unused]] precision z = arguments > 2 ? in[2 * n + i] : 0;             \
    [[maybe_unused]] precision w = arguments > 3 ? in[3 * n + i] : 0;             \
    out[i] = call;                                                                \
  }
#include "functions.inc"
#undef MATH

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "device_math: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
void run(void (*kernel)(const T*, T*, unsigned), const char* name, unsigned arguments, double low, double high,
         unsigned n, std::FILE* file) {
  const device_math::Samples<T> samples(name, low, high);
  std::vector<T> in(std::size_t{n} * arguments);
  for (unsigned position = 0; position < arguments; ++position) {
    for (unsigned i = 0; i < n; ++i) in[std::size_t{n} * position + i] = samples.argument(i, position);
  }
  T* device_in;
  T* device_out;
  check(cudaMalloc(reinterpret_cast<void**>(&device_in), in.size() * sizeof(T)));
  check(cudaMalloc(reinterpret_cast<void**>(&device_out), n * sizeof(T)));
  check(cudaMemcpy(device_in, in.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice));
  kernel<<<(n + 255) / 256, 256>>>(device_in, device_out, n);
  check(cudaGetLastError());
  std::vector<T> out(n);
  check(cudaMemcpy(out.data(), device_out, n * sizeof(T), cudaMemcpyDeviceToHost));
  check(cudaFree(device_in));
  check(cudaFree(device_out));
  std::fwrite(out.data(), sizeof(T), n, file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: device_math COUNT FILE\n");
    return 2;
  }
  const unsigned n = static_cast<unsigned>(std::atoi(argv[1]));
  std::FILE* file = std::fopen(argv[2], "wb");
  if (file == nullptr) {
    std::perror(argv[2]);
    return 2;
  }
#define MATH(name, precision, arguments, call, reference, bound, rule, low, high) \
  run<precision>(run_##name, #name, arguments, low, high, n, file);
#include "functions.inc"
#undef MATH
  return std::fclose(file) == 0 ? 0 : 1;
}
