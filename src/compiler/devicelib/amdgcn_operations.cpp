// Operations of AMD's GPUs that OCML builds on (its intrinsics, renamed by retarget.py), for NVPTX; and OCML's
// settings.
#include "devicelib/libdevice.h"

extern "C" {

// Settings: IEEE arithmetic throughout. The ISA version (gfx906) means that a fused multiply-add is fast.
char wg_unsafe_math_opt() {
  return 0;
}
char wg_finite_only_opt() {
  return 0;
}
char wg_correctly_rounded_sqrt32() {
  return 1;
}
int wg_ISA_version() {
  return 9006;
}
char wg_daz_opt() {
  return wg_flushes() != 0;
}

// On AMD's GPUs these reciprocals are good to 1 ulp (f32) and 2^-23 (f64, refined by OCML itself). Exact ones cost a
// virtual GPU less than PTX's approximations, whose f64 kinds (2^-20) are too coarse for OCML's number of refinements.
float wg_rcp_f32(float x) {
  return 1.0f / x;
}
double wg_rcp_f64(double x) {
  return 1.0 / x;
}
float wg_rsq_f32(float x) {
  return __nvvm_rsqrt_approx_f(x);
}
double wg_rsq_f64(double x) {
  return 1.0 / __builtin_sqrt(x);
}

float wg_frexp_mant_f32(float x) {
  const bool subnormal = magnitude(x) < 0x1p-126f;
  const uint32 bits = bits_of(subnormal ? x * 0x1p+24f : x);
  const float mantissa = float_of((bits & 0x807fffffu) | 0x3f000000u);
  return x == 0 || !(magnitude(x) < infinity_f) ? x : mantissa;
}
double wg_frexp_mant_f64(double x) {
  const bool subnormal = magnitude(x) < 0x1p-1022;
  const uint64 bits = bits_of(subnormal ? x * 0x1p+54 : x);
  const double mantissa = double_of((bits & 0x800fffffffffffffu) | 0x3fe0000000000000u);
  return x == 0 || !(magnitude(x) < infinity_d) ? x : mantissa;
}
int wg_frexp_exp_f32(float x) {
  const bool subnormal = magnitude(x) < 0x1p-126f;
  const uint32 bits = bits_of(subnormal ? x * 0x1p+24f : x);
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - (subnormal ? 126 + 24 : 126);
  return x == 0 || !(magnitude(x) < infinity_f) ? 0 : exponent;
}
int wg_frexp_exp_f64(double x) {
  const bool subnormal = magnitude(x) < 0x1p-1022;
  const uint64 bits = bits_of(subnormal ? x * 0x1p+54 : x);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - (subnormal ? 1022 + 54 : 1022);
  return x == 0 || !(magnitude(x) < infinity_d) ? 0 : exponent;
}

float wg_fract_f32(float x) {
  return __builtin_fminf(x - __builtin_floorf(x), 0x1.fffffep-1f);
}
double wg_fract_f64(double x) {
  return __builtin_fmin(x - __builtin_floor(x), 0x1.fffffffffffffp-1);
}

float wg_fmed3_f32(float a, float b, float c) {
  return __builtin_fmaxf(__builtin_fminf(a, b), __builtin_fminf(__builtin_fmaxf(a, b), c));
}

float wg_canonicalize_f32(float x) {
  return x;
}

// x * 2^n, rounded once. Two factors are enough for OCML, which scales normal numbers only. The factor that cannot
// underflow comes first.
float wg_ldexp_f32(float x, int n) {
  n = least(greatest(n, -252), 254);
  const int last = least(greatest(n, -126), 127);
  return x * power_of_two_f(n - last) * power_of_two_f(last);
}
double wg_ldexp_f64(double x, int n) {
  n = least(greatest(n, -2044), 2046);
  const int last = least(greatest(n, -1022), 1023);
  return x * power_of_two_d(n - last) * power_of_two_d(last);
}

// 2^x to 0.52 ulp: a polynomial of 2^f on [-1/2, 1/2] (relative error 2^-29).
float wg_exp2_f32(float x) {
  const float n = __builtin_rintf(__builtin_fminf(__builtin_fmaxf(x, -152.0f), 129.0f));
  const float f = x - n;
  const float c[] = {1.0f,           0x1.62e430p-1f,  0x1.ebfbe0p-3f, 0x1.c6af6cp-5f,
                     0x1.3b2a54p-7f, 0x1.5f0890p-10f, 0x1.44138ap-13f};
  const float p = polynomial(f, c);
  float result = wg_ldexp_f32(p, static_cast<int>(n));
  result = x > 129.0f ? infinity_f : result;
  return x < -152.0f ? 0.0f : result;  // a NaN passes through
}

// log2(x) to 0.9 ulp, also near 1, where everything but the first term vanishes. x = 2^e * m, m in [sqrt(1/2),
// sqrt(2)).
float wg_log2_f32(float x) {
  const bool subnormal = x < 0x1p-126f;
  const float scaled = subnormal ? x * 0x1p+23f : x;
  const int exponent = static_cast<int>(bits_of(scaled) - 0x3f3504f3u) >> 23;
  const float t = float_of(bits_of(scaled) - (static_cast<uint32>(exponent) << 23)) - 1.0f;
  const float e = static_cast<float>(exponent) - (subnormal ? 23.0f : 0.0f);
  const float c[] = {-0x1.715470p-1f, 0x1.ec70aap-2f,  -0x1.715a70p-2f, 0x1.277a52p-2f, -0x1.eab7aap-3f,
                     0x1.a38c68p-3f,  -0x1.87f6a2p-3f, 0x1.7a63a0p-3f,  -0x1.b84fb6p-4f};
  const float correction = fma(t * t, polynomial(t, c), t * 0x1.4ae0c0p-26f);
  float result = e + fma(t, 0x1.715476p+0f, correction);
  result = x == infinity_f ? x : result;
  result = x == 0 ? -infinity_f : result;
  return x < 0 || x != x ? __builtin_nanf("") : result;
}

// The 53 bits of 2/pi that decide the reduction of x, for segment 0, 1 or 2, as V_TRIG_PREOP_F64 returns them. Above
// 2^54 the leading bits of 2/pi only add whole turns. For huge x (from 2^945) OCML scales x by 2^-128, and this result
// by 2^128.
double wg_trig_preop_f64(double x, int segment) {
  static const __attribute__((address_space(4))) uint64 two_over_pi[] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
      0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
      0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
  };
  // Takes the upper half unchanged. x is some |y|, so LLVM concludes that its sign is clear, but a NaN may have its
  // sign set.
  const int exponent = __nvvm_d2i_hi(x) >> 20 & 0x7ff;
  const int shift = segment * 53 + greatest(exponent - 1077, 0);
  const int word = shift / 64;
  const int bit = shift % 64;
  const uint64 low = bit == 0 ? 0 : two_over_pi[word + 1] >> (64 - bit);
  const uint64 bits = (two_over_pi[word] << bit | low) >> 11;
  return wg_ldexp_f64(static_cast<double>(bits), -53 - shift + (exponent >= 1968 ? 128 : 0));
}
}
