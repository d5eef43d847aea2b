// Common definitions of the device math library. Its files are compiled for NVPTX only and include no other header, so
// the types here have the GPU's sizes.
#pragma once

#define WG_INLINE static inline __attribute__((always_inline))
#define WG_MEMBER inline __attribute__((always_inline))
// A function of NVIDIA's documented libdevice interface.
#define NV_FUNCTION extern "C" __attribute__((visibility("default")))

using int16 = short;
using uint16 = unsigned short;
using uint32 = unsigned;
using int64 = long long;
using uint64 = unsigned long long;

// Whether subnormal floats are flushed (-ftz=true). Decided when the program is compiled, not the library
// (reflect.cpp).
extern "C" __attribute__((const)) int wg_flushes();

constexpr float infinity_f = __builtin_inff();
constexpr double infinity_d = __builtin_inf();

WG_INLINE uint32 bits_of(float x) {
  return __builtin_bit_cast(uint32, x);
}
WG_INLINE uint64 bits_of(double x) {
  return __builtin_bit_cast(uint64, x);
}
WG_INLINE float float_of(uint32 bits) {
  return __builtin_bit_cast(float, bits);
}
WG_INLINE double double_of(uint64 bits) {
  return __builtin_bit_cast(double, bits);
}
WG_INLINE float power_of_two_f(int n) {  // -126 <= n <= 127
  return float_of(static_cast<uint32>(n + 127) << 23);
}
WG_INLINE double power_of_two_d(int n) {  // -1022 <= n <= 1023
  return double_of(static_cast<uint64>(n + 1023) << 52);
}
WG_INLINE float fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
WG_INLINE double fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
WG_INLINE float magnitude(float x) {
  return __builtin_fabsf(x);
}
WG_INLINE double magnitude(double x) {
  return __builtin_fabs(x);
}
template <class T>
WG_INLINE T least(T a, T b) {
  return a < b ? a : b;
}
template <class T>
WG_INLINE T greatest(T a, T b) {
  return a > b ? a : b;
}

// c[0] + c[1]*x + c[2]*x^2 + ...
template <class T, int n>
WG_INLINE T polynomial(T x, const T (&c)[n]) {
  T sum = c[n - 1];
#pragma unroll
  for (int i = n - 2; i >= 0; --i) sum = fma(sum, x, c[i]);
  return sum;
}
