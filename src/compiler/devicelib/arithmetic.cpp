// Rounding variants of arithmetic, classification, and functions that split floating-point numbers.
#include "devicelib/libdevice.h"

// -ftz=true is a property of the program, so each f32 operation has a second form that flushes.
#define FLUSHING(operation, suffix, ...) \
  (wg_flushes() ? __nvvm_##operation##_ftz_##suffix(__VA_ARGS__) : __nvvm_##operation##_##suffix(__VA_ARGS__))

// rd and ru are CUDA's names for PTX's rm and rp.
#define FOR_EACH_ROUNDING(define) define(rn, rn) define(rz, rz) define(rd, rm) define(ru, rp)

#define ARITHMETIC(cuda, ptx)                                          \
  NV_FUNCTION float __nv_fadd_##cuda(float a, float b) {               \
    return FLUSHING(add_##ptx, f, a, b);                               \
  }                                                                    \
  NV_FUNCTION float __nv_fsub_##cuda(float a, float b) {               \
    return FLUSHING(add_##ptx, f, a, -b);                              \
  }                                                                    \
  NV_FUNCTION float __nv_fmul_##cuda(float a, float b) {               \
    return FLUSHING(mul_##ptx, f, a, b);                               \
  }                                                                    \
  NV_FUNCTION float __nv_fdiv_##cuda(float a, float b) {               \
    return FLUSHING(div_##ptx, f, a, b);                               \
  }                                                                    \
  NV_FUNCTION float __nv_frcp_##cuda(float a) {                        \
    return FLUSHING(rcp_##ptx, f, a);                                  \
  }                                                                    \
  NV_FUNCTION float __nv_fsqrt_##cuda(float a) {                       \
    return FLUSHING(sqrt_##ptx, f, a);                                 \
  }                                                                    \
  NV_FUNCTION float __nv_fmaf_##cuda(float a, float b, float c) {      \
    return FLUSHING(fma_##ptx, f, a, b, c);                            \
  }                                                                    \
  NV_FUNCTION float __nv_fmaf_ieee_##cuda(float a, float b, float c) { \
    return __nvvm_fma_##ptx##_f(a, b, c);                              \
  }                                                                    \
  NV_FUNCTION double __nv_dadd_##cuda(double a, double b) {            \
    return __nvvm_add_##ptx##_d(a, b);                                 \
  }                                                                    \
  NV_FUNCTION double __nv_dsub_##cuda(double a, double b) {            \
    return __nvvm_add_##ptx##_d(a, -b);                                \
  }                                                                    \
  NV_FUNCTION double __nv_dmul_##cuda(double a, double b) {            \
    return __nvvm_mul_##ptx##_d(a, b);                                 \
  }                                                                    \
  NV_FUNCTION double __nv_ddiv_##cuda(double a, double b) {            \
    return __nvvm_div_##ptx##_d(a, b);                                 \
  }                                                                    \
  NV_FUNCTION double __nv_drcp_##cuda(double a) {                      \
    return __nvvm_rcp_##ptx##_d(a);                                    \
  }                                                                    \
  NV_FUNCTION double __nv_dsqrt_##cuda(double a) {                     \
    return __nvvm_sqrt_##ptx##_d(a);                                   \
  }                                                                    \
  NV_FUNCTION double __nv_fma_##cuda(double a, double b, double c) {   \
    return __nvvm_fma_##ptx##_d(a, b, c);                              \
  }
FOR_EACH_ROUNDING(ARITHMETIC)

NV_FUNCTION float __nv_fmaf(float a, float b, float c) {
  return fma(a, b, c);
}
NV_FUNCTION double __nv_fma(double a, double b, double c) {
  return fma(a, b, c);
}

NV_FUNCTION float __nv_sqrtf(float x) {
  return __builtin_sqrtf(x);
}
NV_FUNCTION double __nv_sqrt(double x) {
  return __nvvm_sqrt_rn_d(x);
}
NV_FUNCTION float __nv_rsqrtf(float x) {
  return FLUSHING(rsqrt_approx, f, x);
}
// Rounded once: the error in double is far below the distance of any 1/sqrt(float) from the midpoint of two floats.
NV_FUNCTION float __nv_frsqrt_rn(float x) {
  const float input = wg_flushes() && magnitude(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x;
  return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(input)));
}
NV_FUNCTION double __nv_rcp64h(double x) {
  return __nvvm_rcp_approx_ftz_d(x);
}

#define ONE_ARGUMENT(name)                    \
  NV_FUNCTION float __nv_##name##f(float x) { \
    return __builtin_##name##f(x);            \
  }                                           \
  NV_FUNCTION double __nv_##name(double x) {  \
    return __builtin_##name(x);               \
  }
ONE_ARGUMENT(fabs)
ONE_ARGUMENT(floor)
ONE_ARGUMENT(ceil)
ONE_ARGUMENT(trunc)
ONE_ARGUMENT(rint)
ONE_ARGUMENT(nearbyint)

// Rounds halves away from zero. Comparing the removed part avoids rounding twice.
NV_FUNCTION float __nv_roundf(float x) {
  const float whole = __builtin_truncf(x);
  return magnitude(x - whole) >= 0.5f ? whole + __builtin_copysignf(1.0f, x) : whole;
}
NV_FUNCTION double __nv_round(double x) {
  const double whole = __builtin_trunc(x);
  return magnitude(x - whole) >= 0.5 ? whole + __builtin_copysign(1.0, x) : whole;
}

NV_FUNCTION float __nv_copysignf(float x, float y) {
  return __builtin_copysignf(x, y);
}
NV_FUNCTION double __nv_copysign(double x, double y) {
  return __builtin_copysign(x, y);
}
NV_FUNCTION float __nv_fmaxf(float x, float y) {
  return __builtin_fmaxf(x, y);
}
NV_FUNCTION double __nv_fmax(double x, double y) {
  return __builtin_fmax(x, y);
}
NV_FUNCTION float __nv_fminf(float x, float y) {
  return __builtin_fminf(x, y);
}
NV_FUNCTION double __nv_fmin(double x, double y) {
  return __builtin_fmin(x, y);
}
// The neighbour of x towards y. As integers, numbers of one sign are ordered by their magnitudes.
template <class T, class Bits>
WG_INLINE Bits neighbour(T x, T y, Bits x_bits, Bits y_bits, Bits sign) {
  if (x == 0) return (y_bits & sign) | 1;
  return (x < y) == (x > 0) ? x_bits + 1 : x_bits - 1;
}
NV_FUNCTION float __nv_nextafterf(float x, float y) {
  if (x == y) return y;
  return x != x || y != y ? x + y : float_of(neighbour(x, y, bits_of(x), bits_of(y), 0x80000000u));
}
NV_FUNCTION double __nv_nextafter(double x, double y) {
  if (x == y) return y;
  const uint64 sign = 0x8000000000000000u;
  return x != x || y != y ? x + y : double_of(neighbour(x, y, bits_of(x), bits_of(y), sign));
}

NV_FUNCTION float __nv_fdimf(float x, float y) {
  return x <= y ? 0.0f : x - y;
}
NV_FUNCTION double __nv_fdim(double x, double y) {
  return x <= y ? 0.0 : x - y;
}
NV_FUNCTION float __nv_saturatef(float x) {
  return FLUSHING(saturate, f, x);
}

NV_FUNCTION int __nv_finitef(float x) {
  return magnitude(x) < infinity_f;
}
NV_FUNCTION int __nv_isfinited(double x) {
  return magnitude(x) < infinity_d;
}
NV_FUNCTION int __nv_isinff(float x) {
  return magnitude(x) == infinity_f;
}
NV_FUNCTION int __nv_isinfd(double x) {
  return magnitude(x) == infinity_d;
}
NV_FUNCTION int __nv_isnanf(float x) {
  return x != x;
}
NV_FUNCTION int __nv_isnand(double x) {
  return x != x;
}
NV_FUNCTION int __nv_signbitf(float x) {
  return bits_of(x) >> 31;
}
NV_FUNCTION int __nv_signbitd(double x) {
  return static_cast<int>(bits_of(x) >> 63);
}

// The payload of a NaN. The text is decimal, octal (0...) or hexadecimal (0x...), as for strtoull.
WG_INLINE uint64 nan_payload(const signed char* text) {
  uint64 base = 10;
  if (*text == '0') {
    base = 8;
    ++text;
    if (*text == 'x' || *text == 'X') {
      base = 16;
      ++text;
    }
  }
  uint64 value = 0;
  for (; *text != 0; ++text) {
    const int letter = *text | 0x20;
    const uint64 digit = *text >= '0' && *text <= '9'     ? static_cast<uint64>(*text - '0')
                         : letter >= 'a' && letter <= 'f' ? static_cast<uint64>(letter - 'a' + 10)
                                                          : 16;
    if (digit >= base) return 0;
    value = value * base + digit;
  }
  return value;
}
NV_FUNCTION float __nv_nanf(const signed char* text) {
  return float_of(0x7fc00000u | (static_cast<uint32>(nan_payload(text)) & 0x003fffffu));
}
NV_FUNCTION double __nv_nan(const signed char* text) {
  return double_of(0x7ff8000000000000u | (nan_payload(text) & 0x0007ffffffffffffu));
}

// Exponents. No integer exponent exists for zero, infinity and NaN: CUDA returns INT_MIN, INT_MAX and INT_MIN.
WG_INLINE int exponent_of(float x) {
  const uint32 bits = bits_of(x) & 0x7fffffffu;
  return bits < 0x00800000u ? -118 - __builtin_clz(bits | 1) : static_cast<int>(bits >> 23) - 127;
}
WG_INLINE int exponent_of(double x) {
  const uint64 bits = bits_of(x) & 0x7fffffffffffffffu;
  return bits < 0x0010000000000000u ? -1011 - __builtin_clzll(bits | 1) : static_cast<int>(bits >> 52) - 1023;
}
template <class T>
WG_INLINE int integer_exponent(T x, T infinity) {
  if (x == 0 || x != x) return -2147483647 - 1;
  return magnitude(x) == infinity ? 2147483647 : exponent_of(x);
}
template <class T>
WG_INLINE T real_exponent(T x, T infinity) {
  if (x == 0) return -infinity;
  return magnitude(x) < infinity ? static_cast<T>(exponent_of(x)) : x * x;
}
NV_FUNCTION int __nv_ilogbf(float x) {
  return integer_exponent(x, infinity_f);
}
NV_FUNCTION int __nv_ilogb(double x) {
  return integer_exponent(x, infinity_d);
}
NV_FUNCTION float __nv_logbf(float x) {
  return real_exponent(x, infinity_f);
}
NV_FUNCTION double __nv_logb(double x) {
  return real_exponent(x, infinity_d);
}
NV_FUNCTION float __nv_frexpf(float x, int* exponent) {
  const bool ordinary = x != 0 && magnitude(x) < infinity_f;
  const float normal = magnitude(x) < 0x1p-126f ? x * 0x1p+24f : x;
  *exponent = ordinary ? exponent_of(x) + 1 : 0;
  return ordinary ? float_of((bits_of(normal) & 0x807fffffu) | 0x3f000000u) : x;
}
NV_FUNCTION double __nv_frexp(double x, int* exponent) {
  const bool ordinary = x != 0 && magnitude(x) < infinity_d;
  const double normal = magnitude(x) < 0x1p-1022 ? x * 0x1p+54 : x;
  *exponent = ordinary ? exponent_of(x) + 1 : 0;
  return ordinary ? double_of((bits_of(normal) & 0x800fffffffffffffu) | 0x3fe0000000000000u) : x;
}

// x * 2^n for any n, rounded once. The factor that may underflow comes last; the two before it reach from the smallest
// subnormal to infinity.
WG_INLINE float scaled(float x, int n) {
  n = least(greatest(n, -378), 381);
  const int last = least(greatest(n, -126), 127);
  const int second = least(greatest(n - last, -126), 127);
  return x * power_of_two_f(n - last - second) * power_of_two_f(second) * power_of_two_f(last);
}
WG_INLINE double scaled(double x, int n) {
  n = least(greatest(n, -3066), 3069);
  const int last = least(greatest(n, -1022), 1023);
  const int second = least(greatest(n - last, -1022), 1023);
  return x * power_of_two_d(n - last - second) * power_of_two_d(second) * power_of_two_d(last);
}
NV_FUNCTION float __nv_ldexpf(float x, int n) {
  return scaled(x, n);
}
NV_FUNCTION double __nv_ldexp(double x, int n) {
  return scaled(x, n);
}
NV_FUNCTION float __nv_scalbnf(float x, int n) {
  return scaled(x, n);
}
NV_FUNCTION double __nv_scalbn(double x, int n) {
  return scaled(x, n);
}

NV_FUNCTION float __nv_modff(float x, float* whole) {
  *whole = __builtin_truncf(x);
  return __builtin_copysignf(magnitude(x) == infinity_f ? 0.0f : x - *whole, x);
}
NV_FUNCTION double __nv_modf(double x, double* whole) {
  *whole = __builtin_trunc(x);
  return __builtin_copysign(magnitude(x) == infinity_d ? 0.0 : x - *whole, x);
}
