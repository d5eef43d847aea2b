// Test of the intrinsics of the device math library that round in a given direction, convert, or work on integers. The
// host computes the expected results by fesetround or bit by bit. Prints the differences; exit code 1 if there are
// any.
#include <cuda_runtime.h>

#include <algorithm>
#include <cfenv>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "samples.h"

namespace {

constexpr unsigned count = 4096;
unsigned compared = 0;
unsigned wrong = 0;

template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

template <class R, class A>
void compare(const char* name, void (*kernel)(const A*, R*), const std::vector<A>& in,
             const std::function<R(A, A, A)>& host, int rounding = FE_TONEAREST) {
  A* device_in;
  R* device_out;
  cudaMalloc(reinterpret_cast<void**>(&device_in), in.size() * sizeof(A));
  cudaMalloc(reinterpret_cast<void**>(&device_out), count * sizeof(R));
  cudaMemcpy(device_in, in.data(), in.size() * sizeof(A), cudaMemcpyHostToDevice);
  kernel<<<count / 256, 256>>>(device_in, device_out);
  std::vector<R> out(count);
  const cudaError_t error = cudaMemcpy(out.data(), device_out, count * sizeof(R), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) std::printf("%s: %s\n", name, cudaGetErrorString(error)), ++wrong;
  cudaFree(device_in);
  cudaFree(device_out);
  unsigned here = 0;
  for (unsigned i = 0; i < count; ++i) {
    const volatile A x = in[i], y = in[count + i], z = in[2 * count + i];
    std::fesetround(rounding);
    const volatile R want = host(x, y, z);
    std::fesetround(FE_TONEAREST);
    ++compared;
    if (same<R>(out[i], want)) continue;
    if (++here <= 3) {
      std::printf("%s(%.17g, %.17g, %.17g): %.17g, not %.17g\n", name, double(x), double(y), double(z), double(out[i]),
                  double(want));
    }
  }
  wrong += here;
}

template <class T>
std::vector<T> reals(const char* name) {
  const device_math::Samples<T> samples(name, -1000, 1000);
  std::vector<T> result;
  for (unsigned position = 0; position < 3; ++position) {
    for (unsigned i = 0; i < count; ++i) result.push_back(samples.argument(i, position));
  }
  return result;
}
template <class T>
std::vector<T> integers() {
  std::vector<T> result;
  for (unsigned i = 0; i < 3 * count; ++i) {
    const std::uint64_t random = device_math::scrambled(i);
    result.push_back(static_cast<T>(i % 4 == 0 ? random & 15 : i % 4 == 1 ? ~(random & 15) : random >> (random & 31)));
  }
  return result;
}

// Beyond the integers' range a conversion gives the nearest; NaNs are left out (their result is the hardware's).
template <class R, class A>
R converted(A x) {
  const A whole = std::nearbyint(x);
  if (whole != whole) return 0;
  const A limit = std::ldexp(A(1), std::numeric_limits<R>::digits);
  if (whole >= limit) return std::numeric_limits<R>::max();
  return whole < static_cast<A>(std::numeric_limits<R>::min()) ? std::numeric_limits<R>::min() : static_cast<R>(whole);
}

// x86 makes a conversion of 64 unsigned bits of two, whose difference of zeros is -0 where it rounds down.
double of_unsigned(unsigned long long x) {
  const volatile double zero = 0;  // not to be taken for the conversion of 0
  return x == 0 ? zero : static_cast<double>(x);
}

}  // namespace

using uint = unsigned;
using ll = long long;
using ull = unsigned long long;

template <class T>
T reversed(T x) {
  T result = 0;
  for (unsigned bit = 0; bit < sizeof(T) * 8; ++bit) result |= (x >> bit & 1) << (sizeof(T) * 8 - 1 - bit);
  return result;
}
template <class T>
int ones(T x) {
  int result = 0;
  for (; x != 0; x >>= 1) result += static_cast<int>(x & 1);
  return result;
}
template <class T>
int leading(T x) {
  int result = 0;
  for (int bit = sizeof(T) * 8 - 1; bit >= 0 && (x >> bit & 1) == 0; --bit) ++result;
  return result;
}
template <class T>
int first(T x) {
  for (unsigned bit = 0; bit < sizeof(T) * 8; ++bit)
    if (x >> bit & 1) return static_cast<int>(bit) + 1;
  return 0;
}
uint permuted(uint x, uint y, uint s) {
  const ull bytes = static_cast<ull>(y) << 32 | x;
  uint result = 0;
  for (int i = 0; i < 4; ++i) result |= static_cast<uint>(bytes >> 8 * (s >> 4 * i & 7) & 255) << 8 * i;
  return result;
}
int low24(int x) {
  return (x & 0xffffff) - ((x & 0x800000) << 1);
}

#define INTRINSIC(name, result, argument, samples, call, host) KERNEL(name, result, argument, call)
#define KERNEL(name, result, argument, call)                                             \
  __global__ void run_##name(const argument* in, result* out) {                          \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                            \
    [[maybe_unused]] const argument x = in[i], y = in[count + i], z = in[2 * count + i]; \
    out[i] = call;                                                                       \
  }
#define SUFFIX rn
#include "intrinsics.inc"
#undef SUFFIX
#define SUFFIX rz
#include "intrinsics.inc"
#undef SUFFIX
#define SUFFIX rd
#include "intrinsics.inc"
#undef SUFFIX
#define SUFFIX ru
#include "intrinsics.inc"
#undef SUFFIX
#include "intrinsics.inc"
#undef INTRINSIC

#define INTRINSIC(name, result, argument, samples, call, host) COMPARE(name, result, argument, samples, host)
#define COMPARE(name, result, argument, samples, host)   \
  compare<result, argument>(                             \
      #name, run_##name, samples,                        \
      [](argument x, argument y, argument z) -> result { \
        (void)x, (void)y, (void)z;                       \
        return host;                                     \
      },                                                 \
      rounding);

int main() {
  const std::vector<float> floats = reals<float>("floats");
  const std::vector<double> doubles = reals<double>("doubles");
  const std::vector<int> ints = integers<int>();
  const std::vector<uint> uints = integers<uint>();
  const std::vector<ll> lls = integers<ll>();
  const std::vector<ull> ulls = integers<ull>();
  int rounding = FE_TONEAREST;
#define SUFFIX rn
#include "intrinsics.inc"
#undef SUFFIX
  rounding = FE_TOWARDZERO;
#define SUFFIX rz
#include "intrinsics.inc"
#undef SUFFIX
  rounding = FE_DOWNWARD;
#define SUFFIX rd
#include "intrinsics.inc"
#undef SUFFIX
  rounding = FE_UPWARD;
#define SUFFIX ru
#include "intrinsics.inc"
#undef SUFFIX
  rounding = FE_TONEAREST;
#include "intrinsics.inc"
  std::printf("%u results compared, %u wrong\n", compared, wrong);
  return wrong == 0 && compared > 0 ? 0 : 1;
}
