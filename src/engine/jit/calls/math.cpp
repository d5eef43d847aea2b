// Arithmetic with rounding modes other than nearest, for hosts whose instructions cannot encode the rounding (see
// codegen/families/floating_arithmetic.cpp). Each function switches the host's rounding mode around a loop over the 32
// lanes.
#include <immintrin.h>

#include <cmath>

#include "gpu/types.h"
#include "jit/calls/block_scaled_matrix.h"
#include "jit/calls/matrix.h"
#include "jit/calls/multi_function.h"
#include "jit/calls/symbols.h"

namespace warpgrind::jit {

namespace {

enum Mode : unsigned { rz = _MM_ROUND_TOWARD_ZERO, rm = _MM_ROUND_DOWN, rp = _MM_ROUND_UP };

// Each loop is a separate function that is never inlined: no operation may move across the change of mode.
#define WG_LOOP(name, T, expression)                                        \
  [[gnu::noinline]] void name(T* out, const T* a, const T* b, const T* c) { \
    (void)b;                                                                \
    (void)c;                                                                \
    for (unsigned i = 0; i < kWarpSize; ++i) out[i] = expression;           \
  }
WG_LOOP(add_f32, float, a[i] + b[i])
WG_LOOP(sub_f32, float, a[i] - b[i])
WG_LOOP(mul_f32, float, a[i] * b[i])
WG_LOOP(div_f32, float, a[i] / b[i])
WG_LOOP(sqrt_f32, float, __builtin_sqrtf(a[i]))
WG_LOOP(fma_f32, float, __builtin_fmaf(a[i], b[i], c[i]))
WG_LOOP(add_f64, double, a[i] + b[i])
WG_LOOP(sub_f64, double, a[i] - b[i])
WG_LOOP(mul_f64, double, a[i] * b[i])
WG_LOOP(div_f64, double, a[i] / b[i])
WG_LOOP(sqrt_f64, double, __builtin_sqrt(a[i]))
WG_LOOP(fma_f64, double, __builtin_fma(a[i], b[i], c[i]))
#undef WG_LOOP

template <class T>
using Loop = void (*)(T*, const T*, const T*, const T*);

template <Mode mode, class T, Loop<T> loop>
void with_rounding(T* out, const T* a, const T* b, const T* c) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr((before & ~_MM_ROUND_MASK) | mode);
  loop(out, a, b, c);
  _mm_setcsr(before);
}

template <Mode mode, class T, Loop<T> loop>
void unary(T* out, const T* a) {
  with_rounding<mode, T, loop>(out, a, nullptr, nullptr);
}
template <Mode mode, class T, Loop<T> loop>
void binary(T* out, const T* a, const T* b) {
  with_rounding<mode, T, loop>(out, a, b, nullptr);
}

template <class F>
CallSymbol symbol(const char* name, F* function) {
  return {name, reinterpret_cast<void*>(function)};
}

}  // namespace

void register_math_symbols() {
#define WG_MODE(shape, op, mode, suffix, T) symbol("wg_" #op "_" #mode "_" #suffix, &shape<mode, T, op##_##suffix>)
#define WG_OP(shape, op, suffix, T) \
  WG_MODE(shape, op, rz, suffix, T), WG_MODE(shape, op, rm, suffix, T), WG_MODE(shape, op, rp, suffix, T)
#define WG_TYPES(shape, op) WG_OP(shape, op, f32, float), WG_OP(shape, op, f64, double)
  static const CallSymbol symbols[] = {
      WG_TYPES(binary, add), WG_TYPES(binary, sub),        WG_TYPES(binary, mul),
      WG_TYPES(binary, div), WG_TYPES(with_rounding, fma), WG_TYPES(unary, sqrt),
  };
#undef WG_TYPES
#undef WG_OP
#undef WG_MODE
  register_call_symbols(symbols);
  register_matrix_symbols();
  register_block_scaled_symbols();
  register_multi_function_symbols();
}

}  // namespace warpgrind::jit
