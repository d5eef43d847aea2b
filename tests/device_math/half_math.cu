// Test of the functions of cuda_fp16.h and cuda_bf16.h for all arguments, one at a time and two side by side, against
// double precision. The limit is kBound ulps of the 16-bit type. They are the functions of float (some 2 ulps of float
// from the exact result), rounded to nearest: half an ulp and 2^-11.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr double kBound = 0.5005;
constexpr unsigned kAll = 65536;

#define FUNCTIONS(X)         \
  X(sqrt, std::sqrt(x))      \
  X(rsqrt, 1 / std::sqrt(x)) \
  X(rcp, 1 / x)              \
  X(exp, std::exp(x))        \
  X(exp2, std::exp2(x))      \
  X(exp10, std::pow(10, x))  \
  X(log, std::log(x))        \
  X(log2, std::log2(x))      \
  X(log10, std::log10(x))    \
  X(sin, std::sin(x))        \
  X(cos, std::cos(x))        \
  X(tanh, std::tanh(x))      \
  X(ceil, std::ceil(x))      \
  X(floor, std::floor(x))    \
  X(rint, std::rint(x))      \
  X(trunc, std::trunc(x))

template <class T>
struct Format;
template <>
struct Format<__half> {
  using Pair = __half2;
  static constexpr const char* name = "half";
  static constexpr int bits = 10, least = -14;
  static constexpr double most = 65504;
};
template <>
struct Format<__nv_bfloat16> {
  using Pair = __nv_bfloat162;
  static constexpr const char* name = "bfloat16";
  static constexpr int bits = 7, least = -126;
  static constexpr double most = 0x1.fep127;
};

#define KERNEL(name, reference)                               \
  template <class T, class T2>                                \
  __global__ void run_##name(const T* in, T* out, T* pairs) { \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x; \
    out[i] = h##name(in[i]);                                  \
    T2 two;                                                   \
    two.x = in[i], two.y = in[kAll - 1 - i];                  \
    const T2 results = h2##name(two);                         \
    pairs[2 * i] = results.x, pairs[2 * i + 1] = results.y;   \
  }
FUNCTIONS(KERNEL)
#undef KERNEL

unsigned short bits_of(const void* value) {
  unsigned short bits;
  std::memcpy(&bits, value, sizeof bits);
  return bits;
}

// Ulps from the exact result; 0 where both are infinite, or no number.
template <class T>
double distance(T got, double exact) {
  using F = Format<T>;
  const double value = static_cast<float>(got);
  if (std::isnan(exact) || std::isnan(value)) return std::isnan(exact) && std::isnan(value) ? 0 : HUGE_VAL;
  // What is half an ulp or more above the largest number is infinite.
  const double ulp_at_most = std::ldexp(1, std::ilogb(F::most) - F::bits);
  if (std::fabs(exact) >= F::most + ulp_at_most / 2)
    return std::isinf(value) && std::signbit(value) == std::signbit(exact) ? 0 : HUGE_VAL;
  if (value == exact) return std::signbit(value) == std::signbit(exact) ? 0 : HUGE_VAL;
  const int exponent = exact == 0 ? F::least : std::max(F::least, std::ilogb(exact));
  return std::fabs(value - exact) / std::ldexp(1, exponent - F::bits);
}

template <class T, class Kernel, class Reference>
bool check(const char* name, Kernel kernel, Reference reference) {
  std::vector<T> in(kAll), out(kAll), pairs(2 * kAll);
  for (unsigned i = 0; i < kAll; i++) {
    const unsigned short bits = static_cast<unsigned short>(i);
    std::memcpy(static_cast<void*>(&in[i]), &bits, sizeof bits);
  }
  T *device_in, *device_out, *device_pairs;
  cudaMalloc(&device_in, kAll * sizeof(T));
  cudaMalloc(&device_out, kAll * sizeof(T));
  cudaMalloc(&device_pairs, 2 * kAll * sizeof(T));
  cudaMemcpy(device_in, in.data(), kAll * sizeof(T), cudaMemcpyHostToDevice);
  kernel<<<kAll / 256, 256>>>(device_in, device_out, device_pairs);
  cudaMemcpy(out.data(), device_out, kAll * sizeof(T), cudaMemcpyDeviceToHost);
  const cudaError_t error = cudaMemcpy(pairs.data(), device_pairs, 2 * kAll * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(device_in), cudaFree(device_out), cudaFree(device_pairs);
  double worst = 0;
  unsigned at = 0, unlike = 0, inexact = 0;
  for (unsigned i = 0; i < kAll; i++) {
    const double d = distance<T>(out[i], reference(static_cast<double>(static_cast<float>(in[i]))));
    if (d > 0.5) inexact++;
    if (d > worst) worst = d, at = i;
    unlike += bits_of(&pairs[2 * i]) != bits_of(&out[i]);
    unlike += bits_of(&pairs[2 * i + 1]) != bits_of(&out[kAll - 1 - i]);
  }
  const bool good = error == cudaSuccess && worst <= kBound && unlike == 0;
  std::printf("%s h%s: %.5f ulps at %04x, %u not correctly rounded, %u unlike in pairs%s\n", Format<T>::name, name,
              worst, at, inexact, unlike, good ? "" : " WRONG");
  return good;
}

template <class T>
bool check_all() {
  using Pair = typename Format<T>::Pair;
  bool good = true;
#define CHECK_ONE(name, expression) \
  good &= check<T>(#name, run_##name<T, Pair>, [](double x) -> double { return expression; });
  FUNCTIONS(CHECK_ONE)
#undef CHECK_ONE
  return good;
}

}  // namespace

int main() {
  const bool half = check_all<__half>(), bfloat16 = check_all<__nv_bfloat16>();
  return half && bfloat16 ? 0 : 1;
}
