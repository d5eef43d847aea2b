// Fast intrinsics __sinf, __expf, ..., also used for sinf, expf, ... under -use_fast_math: PTX's approximations.
#include "devicelib/libdevice.h"

#define FLUSHING(operation, ...) \
  (wg_flushes() ? __nvvm_##operation##_approx_ftz_f(__VA_ARGS__) : __nvvm_##operation##_approx_f(__VA_ARGS__))

// sqrtf under -prec-sqrt=false (toolchain/plan.cpp renames it to this). LLVM 19 itself uses sqrt.approx for no other
// call.
NV_FUNCTION float __nv_fast_sqrtf(float x) {
  return FLUSHING(sqrt, x);
}
NV_FUNCTION float __nv_fast_sinf(float x) {
  return FLUSHING(sin, x);
}
NV_FUNCTION float __nv_fast_cosf(float x) {
  return FLUSHING(cos, x);
}
NV_FUNCTION void __nv_fast_sincosf(float x, float* sine, float* cosine) {
  *sine = FLUSHING(sin, x);
  *cosine = FLUSHING(cos, x);
}
NV_FUNCTION float __nv_fast_tanf(float x) {
  return FLUSHING(div, FLUSHING(sin, x), FLUSHING(cos, x));
}
NV_FUNCTION float __nv_fast_log2f(float x) {
  return FLUSHING(lg2, x);
}
NV_FUNCTION float __nv_fast_logf(float x) {
  return FLUSHING(lg2, x) * 0x1.62e430p-1f;  // ln 2
}
NV_FUNCTION float __nv_fast_log10f(float x) {
  return FLUSHING(lg2, x) * 0x1.344136p-2f;  // log10(2)
}
NV_FUNCTION float __nv_fast_expf(float x) {
  return FLUSHING(ex2, x * 0x1.715476p+0f);  // log2(e)
}
NV_FUNCTION float __nv_fast_exp10f(float x) {
  return FLUSHING(ex2, x * 0x1.a934f0p+1f);  // log2(10)
}
NV_FUNCTION float __nv_fast_powf(float x, float y) {
  return FLUSHING(ex2, y * FLUSHING(lg2, x));
}
NV_FUNCTION float __nv_fast_fdividef(float x, float y) {
  return FLUSHING(div, x, y);
}
