// Exponentials, and functions based on them. The float versions are accurate to 1 ulp and take 20 instructions. OCML's
// rely on an instruction of AMD's GPUs, and would take three to five times as long.
#include "devicelib/libdevice.h"

// Adding this constant to a number and subtracting it again rounds the number to an integer. The lowest bits of the sum
// hold that integer.
constexpr float rounder = 0x1.8p+23f;
WG_INLINE int integer_in(float sum) {
  return static_cast<int>(bits_of(sum) - bits_of(rounder));
}
// x * 2^n for x near 1, with two factors. The first product is exact, so a subnormal result is rounded once.
WG_INLINE float scaled(float x, int n) {
  const int half = n >> 1;
  return x * power_of_two_f(half) * power_of_two_f(n - half);
}
WG_INLINE float within(float x, float low, float high, float result) {
  result = x > high ? infinity_f : result;
  return x < low ? 0.0f : result;  // a NaN passes through
}

// e^r - 1, |r| <= ln(2)/2.
WG_INLINE float small_power(float r) {
  const float c[] = {0x1.fffffcp-2f, 0x1.555490p-3f, 0x1.5558f4p-5f, 0x1.123a6ap-7f, 0x1.6a2384p-10f};
  return fma(r * r, polynomial(r, c), r);
}
WG_INLINE float reduced(float x, float& sum) {
  sum = fma(x, 0x1.715476p+0f, rounder);  // log2(e)
  const float k = sum - rounder;
  return fma(k, 0x1.05c610p-29f, fma(k, -0x1.62e430p-1f, x));  // ln 2 in two parts
}

NV_FUNCTION float __nv_expf(float x) {
  float sum;
  const float r = reduced(x, sum);
  return within(x, -104.0f, 0x1.62e430p+6f, scaled(1.0f + small_power(r), integer_in(sum)));
}

NV_FUNCTION double __nv_exp(double x) {
  const double rounder = 0x1.8p+52;
  const double sum = fma(x, 0x1.71547652b82fep+0, rounder);
  const double k = sum - rounder;
  const double r = fma(k, -0x1.abc9e3b39803fp-56, fma(k, -0x1.62e42fefa39efp-1, x));
  const double c[] = {0x1.0000000000000p-1,  0x1.555555555555bp-3,  0x1.5555555555503p-5,  0x1.111111110ec60p-7,
                      0x1.6c16c16c304adp-10, 0x1.a01a01b37d060p-13, 0x1.a01a0136802f9p-16, 0x1.71ddf023ba045p-19,
                      0x1.27e5b46f8cac6p-22, 0x1.af6be2f14b6aap-26, 0x1.1e3ce2dab39b2p-29};  // (e^r - 1 - r)/r^2
  const double power = 1.0 + fma(r * r, polynomial(r, c), r);
  const int n = static_cast<int>(static_cast<uint32>(bits_of(sum)));
  const int half = n >> 1;
  double result = power * power_of_two_d(half) * power_of_two_d(n - half);
  result = x > 0x1.62e42fefa39efp+9 ? infinity_d : result;
  return x < -746.0 ? 0.0 : result;  // a NaN passes through
}

NV_FUNCTION float __nv_exp2f(float x) {
  const float sum = x + rounder;
  const float r = x - (sum - rounder);
  const float c[] = {1.0f,           0x1.62e430p-1f,  0x1.ebfbe0p-3f, 0x1.c6af6cp-5f,
                     0x1.3b2a54p-7f, 0x1.5f0890p-10f, 0x1.44138ap-13f};
  return within(x, -150.0f, 0x1.fffffep+6f, scaled(polynomial(r, c), integer_in(sum)));
}

NV_FUNCTION float __nv_exp10f(float x) {
  const float sum = fma(x, 0x1.a934f0p+1f, rounder);  // log2(10)
  const float k = sum - rounder;
  const float r = fma(k, 0x1.ec10c0p-27f, fma(k, -0x1.344136p-2f, x));  // log10(2) in two parts
  const float c[] = {1.0f,           0x1.26bb1cp+1f, 0x1.53524ap+1f, 0x1.046f68p+1f,
                     0x1.2bd9d8p+0f, 0x1.158502p-1f, 0x1.a68bccp-3f};
  return within(x, -46.0f, 0x1.344134p+5f, scaled(polynomial(r, c), integer_in(sum)));
}

// x + x^3 (...) for small x; otherwise 1 - 2/(e^2x + 1).
NV_FUNCTION float __nv_tanhf(float x) {
  const float size = magnitude(x);
  const float y = x * x;
  const float c[] = {-0x1.555554p-2f, 0x1.111072p-3f, -0x1.b9f10cp-5f, 0x1.63a7ecp-6f, -0x1.0c888cp-7f, 0x1.1b1460p-9f};
  const float small = fma(y * size, polynomial(y, c), size);
  float sum;
  const float r = reduced(size < 10.0f ? 2 * size : 20.0f, sum);
  const float power = float_of(bits_of(1.0f + small_power(r)) + (bits_of(sum) << 23));
  const float large = 1.0f - 2.0f / (power + 1.0f);
  return x != x ? x : __builtin_copysignf(size < 0.6f ? small : large, x);
}

// x + x (...) for small x; otherwise 1 - erfc(x), where a polynomial gives the logarithm of erfc(x) until erfc(x)
// vanishes. OCML's version takes 2.5 times as long.
NV_FUNCTION float __nv_erff(float x) {
  const float size = magnitude(x);
  const float y = x * x;
  const float c[] = {0x1.06eba8p-3f, -0x1.812742p-2f,  0x1.ce2dcap-4f, -0x1.b80960p-6f,
                     0x1.549662p-8f, -0x1.a88d82p-11f, 0x1.574eb8p-14f};
  const float small = fma(size, polynomial(y, c), size);
  const float d[] = {-0x1.745934p-13f, -0x1.20b42ep+0f, -0x1.462cc0p-1f, -0x1.aa22aep-4f,
                     0x1.6cfc16p-6f,   -0x1.907f8ap-9f, 0x1.9d8268p-13f};
  float sum;
  const float r = reduced(polynomial(size < 3.94f ? size : 3.94f, d), sum);
  const float power = float_of(bits_of(1.0f + small_power(r)) + (bits_of(sum) << 23));
  const float large = size < 3.94f ? 1.0f - power : 1.0f;
  return x != x ? x : __builtin_copysignf(size < 0.92f ? small : large, x);
}
