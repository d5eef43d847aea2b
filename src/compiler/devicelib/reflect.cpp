// Functions that depend on the program's options. They are linked after the library's own optimisation: clang's
// reflection pass answers __nvvm_reflect when a *program* is compiled.
extern "C" {
// Declared under another name: as a builtin of clang 19 it would not return.
int reflect(const char* question) __asm__("__nvvm_reflect");

__attribute__((const, always_inline)) int wg_flushes() {
  return reflect("__CUDA_FTZ");
}

// Products that are never fused with a sum (uncontract.py).
__attribute__((const, always_inline)) float wg_product_float(float x, float y) {
  return wg_flushes() ? __nvvm_mul_rn_ftz_f(x, y) : __nvvm_mul_rn_f(x, y);
}
__attribute__((const, always_inline)) double wg_product_double(double x, double y) {
  return __nvvm_mul_rn_d(x, y);
}
}
