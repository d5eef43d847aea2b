// Functions that OCML lacks: Bessel functions of any order, and norms of vectors of any length.
#include "devicelib/libdevice.h"

extern "C" {
__attribute__((const)) float __ocml_j0_f32(float x);
__attribute__((const)) double __ocml_j0_f64(double x);
__attribute__((const)) float __ocml_j1_f32(float x);
__attribute__((const)) double __ocml_j1_f64(double x);
__attribute__((const)) float __ocml_y0_f32(float x);
__attribute__((const)) double __ocml_y0_f64(double x);
__attribute__((const)) float __ocml_y1_f32(float x);
__attribute__((const)) double __ocml_y1_f64(double x);
}

WG_INLINE float j0_of(float x) {
  return __ocml_j0_f32(x);
}
WG_INLINE double j0_of(double x) {
  return __ocml_j0_f64(x);
}
WG_INLINE float j1_of(float x) {
  return __ocml_j1_f32(x);
}
WG_INLINE double j1_of(double x) {
  return __ocml_j1_f64(x);
}

// J_n(x) for n >= 2, x > 0. The recurrence J_{k+1} = (2k/x) J_k - J_{k-1} is used upwards while k < x. For larger k
// only the downward direction is stable. It starts at an order so high that its arbitrary start values are lost in
// rounding (found by the same recurrence, which grows to `enough`). The result is scaled by the larger of J_0 and J_1
// (as in FreeBSD's msun).
template <class T>
WG_INLINE T bessel_j(int n, T x, T enough, T large) {
  const T step = 2 / x;
  if (static_cast<T>(n) <= x) {
    T before = j0_of(x);
    T now = j1_of(x);
    for (int k = 1; k < n; ++k) {
      const T next = fma(static_cast<T>(k) * step, now, -before);
      before = now;
      now = next;
    }
    return now;
  }
  int top = n;
  T q0 = 1;
  T q1 = static_cast<T>(n) * step;
  while (q1 < enough) {
    ++top;
    const T q2 = fma(static_cast<T>(top) * step, q1, -q0);
    q0 = q1;
    q1 = q2;
  }
  T above = 0;
  T now = 1;
  T wanted = 0;
  for (int k = top; k > 0; --k) {
    const T below = fma(static_cast<T>(k) * step, now, -above);
    above = now;
    now = below;
    if (k - 1 == n) wanted = now;
    if (magnitude(now) > large) {
      above /= large;
      now /= large;
      wanted /= large;
    }
  }
  if (n == top) wanted = 1;
  const T j0 = j0_of(x);
  const T j1 = j1_of(x);
  return magnitude(j0) >= magnitude(j1) ? wanted / now * j0 : wanted / above * j1;
}

template <class T>
WG_INLINE T any_bessel_j(int n, T x, T tiny, T enough, T large, T infinity) {
  if (n < 0 || x != x) return __builtin_nanf("");
  if (n == 0) return j0_of(x);
  if (n == 1) return j1_of(x);
  const T positive = magnitude(x);
  if (positive == 0 || positive == infinity) return 0;
  T result = 1;
  if (positive < tiny) {  // (x/2)^n / n!: the next term is lost in rounding
    for (int k = 1; k <= n && result != 0; ++k) result *= positive / static_cast<T>(2 * k);
  } else {
    result = bessel_j(n, positive, enough, large);
  }
  return x < 0 && n % 2 != 0 ? -result : result;
}
NV_FUNCTION float __nv_jnf(int n, float x) {
  return any_bessel_j(n, x, 1e-4f, 1e9f, 1e18f, infinity_f);
}
NV_FUNCTION double __nv_jn(int n, double x) {
  return any_bessel_j(n, x, 1e-8, 1e17, 1e150, infinity_d);
}

// Y_n grows with n beyond x, so the upward recurrence is stable.
template <class T>
WG_INLINE T bessel_y(int n, T x, T y0, T y1, T infinity) {
  if (n < 0) return __builtin_nanf("");
  if (n == 0) return y0;
  if (!(x < infinity)) return y1;
  for (int k = 1; k < n && y1 > -infinity; ++k) {
    const T next = fma(static_cast<T>(2 * k) / x, y1, -y0);
    y0 = y1;
    y1 = next;
  }
  return y1;
}
NV_FUNCTION float __nv_ynf(int n, float x) {
  return bessel_y(n, x, __ocml_y0_f32(x), __ocml_y1_f32(x), infinity_f);
}
NV_FUNCTION double __nv_yn(int n, double x) {
  return bessel_y(n, x, __ocml_y0_f64(x), __ocml_y1_f64(x), infinity_d);
}

NV_FUNCTION double __nv_rsqrt(double x) {
  return 1.0 / __builtin_sqrt(x);
}

// The length of a vector. A power of two near the largest element scales all elements, so that no square leaves the
// range. An infinite element makes the length infinite, even beside a NaN.
WG_INLINE int bounded_exponent(float x) {
  return least(greatest(static_cast<int>(bits_of(x) >> 23) - 127, -126), 126);
}
WG_INLINE int bounded_exponent(double x) {
  return least(greatest(static_cast<int>(bits_of(x) >> 52) - 1023, -1022), 1022);
}
WG_INLINE float power_of(int n, float) {
  return power_of_two_f(n);
}
WG_INLINE double power_of(int n, double) {
  return power_of_two_d(n);
}
template <class T>
struct Greatest {
  T value = 0;
  bool undefined = false;
  WG_MEMBER void take(T x) {
    value = magnitude(x) > value ? magnitude(x) : value;
    undefined |= x != x;
  }
};
// A sum of squares in two parts. The second part holds the rounding errors of the first.
template <class T>
struct Squares {
  T sum = 0;
  T lost = 0;
  WG_MEMBER void add(T x) {
    const T square = x * x;
    const T next = sum + square;
    const T of_square = next - sum;
    lost += (sum - (next - of_square)) + (square - of_square) + fma(x, x, -square);
    sum = next;
  }
  WG_MEMBER T root() const {
    const T y = __builtin_elementwise_sqrt(sum);
    return fma((fma(-y, y, sum) + lost) / y, T(0.5), y);
  }
  WG_MEMBER T reciprocal_root() const {
    const T y = 1 / __builtin_elementwise_sqrt(sum);
    const T z = sum * y;
    const T error = fma(-z, y, T(1)) - fma(fma(sum, y, -z), y, lost * y * y);
    return fma(y * T(0.5), error, y);
  }
};
// True if the largest element alone decides the length, which is set then.
template <class T>
WG_INLINE bool decided(Greatest<T> greatest, T infinity, T& length) {
  length = greatest.value;
  if (greatest.value == infinity || (greatest.value == 0 && !greatest.undefined)) return true;
  if (greatest.undefined) length = static_cast<T>(__builtin_nanf(""));
  return greatest.undefined;
}

template <class T>
WG_INLINE T length_of(int n, const T* v, T infinity) {
  Greatest<T> greatest;
  for (int i = 0; i < n; ++i) greatest.take(v[i]);
  T length;
  if (decided(greatest, infinity, length)) return length;
  const int exponent = bounded_exponent(greatest.value);
  const T factor = power_of(-exponent, T{});
  Squares<T> squares;
  for (int i = 0; i < n; ++i) squares.add(v[i] * factor);
  return squares.root() * power_of(exponent, T{});
}
template <class T>
WG_INLINE T reciprocal_length_of(int n, const T* v, T infinity) {
  Greatest<T> greatest;
  for (int i = 0; i < n; ++i) greatest.take(v[i]);
  T length;
  if (decided(greatest, infinity, length)) return 1 / length;
  const int exponent = bounded_exponent(greatest.value);
  const T factor = power_of(-exponent, T{});
  Squares<T> squares;
  for (int i = 0; i < n; ++i) squares.add(v[i] * factor);
  return squares.reciprocal_root() * factor;
}
NV_FUNCTION float __nv_normf(int n, const float* v) {
  return length_of(n, v, infinity_f);
}
NV_FUNCTION double __nv_norm(int n, const double* v) {
  return length_of(n, v, infinity_d);
}
NV_FUNCTION float __nv_rnormf(int n, const float* v) {
  return reciprocal_length_of(n, v, infinity_f);
}
NV_FUNCTION double __nv_rnorm(int n, const double* v) {
  return reciprocal_length_of(n, v, infinity_d);
}

// OCML's version is off by 2 ulps in double.
extern "C" __attribute__((const)) float __ocml_rhypot_f32(float x, float y);
NV_FUNCTION float __nv_rhypotf(float x, float y) {
  return __ocml_rhypot_f32(x, y);
}
NV_FUNCTION double __nv_rhypot(double x, double y) {
  const double v[] = {x, y};
  return reciprocal_length_of(2, v, infinity_d);
}
