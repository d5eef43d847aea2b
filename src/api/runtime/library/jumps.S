// Jumps of libcudart.so.12 and libcudart.so.11.0. Each function of that release jumps to libcudart.so.13's function of
// the same name, or to the one with that release's parameters (warpgrind/older_functions.inc).
//
// WARPGRIND_RELEASE: 11 or 12.
  .section .note.GNU-stack, "", @progbits
  .text

#define WG_JUMP(name, target, ...)     \
  .ifndef wg_has_##name;               \
  .set wg_has_##name, 1;               \
  __VA_ARGS__;                         \
  .globl name;                         \
  .type name, @function;               \
  .balign 16;                          \
  name: endbr64;                       \
  jmp *target@GOTPCREL(%rip);          \
  .size name, . - name;                \
  .endif;
// Both libraries have a function of this name. The jump goes to libcudart.so.13's.
#define WG_SAME(name) WG_JUMP(name, wg_13_##name, .symver wg_13_##name, name@libcudart.so.13)

#define WG_IF_OLDER(name, symbol) WG_JUMP(name, symbol, )
#define WG_NONE(name, parameters, arguments)
#define WG_OLDER(name, parameters, arguments) WG_IF_OLDER(name, warpgrind_older_##name)
#define WG_OLDER_PTSZ(name, parameters, arguments) \
  WG_IF_OLDER(name, warpgrind_older_##name) WG_IF_OLDER(name##_ptsz, warpgrind_older_##name##_ptsz)
#define WG_OLDER_OF(release, name) WG_IF_OLDER(name, warpgrind_cuda##release##_##name)
#define WG_OLDER_OF_PTSZ(release, name) \
  WG_OLDER_OF(release, name) WG_IF_OLDER(name##_ptsz, warpgrind_cuda##release##_##name##_ptsz)
#if WARPGRIND_RELEASE == 11
#define WG_OLDER_11(name, parameters, arguments) WG_OLDER_OF(11, name)
#define WG_OLDER_11_PTSZ(name, parameters, arguments) WG_OLDER_OF_PTSZ(11, name)
#define WG_OLDER_12 WG_NONE
#define WG_OLDER_12_PTSZ WG_NONE
#else
#define WG_OLDER_12(name, parameters, arguments) WG_OLDER_OF(12, name)
#define WG_OLDER_12_PTSZ(name, parameters, arguments) WG_OLDER_OF_PTSZ(12, name)
#define WG_OLDER_11 WG_NONE
#define WG_OLDER_11_PTSZ WG_NONE
#endif
#include "warpgrind/older_functions.inc"

#define WG_DEFAULT(value)
#define WG_FUNCTION(result, name, parameters, arguments) WG_SAME(name)
#define WG_FUNCTION_PTDS(result, name, parameters, arguments) WG_SAME(name) WG_SAME(name##_ptds)
#define WG_FUNCTION_PTSZ(result, name, parameters, arguments) WG_SAME(name) WG_SAME(name##_ptsz)
#define WG_UNSUPPORTED(name, parameters) WG_SAME(name)
#define WG_UNSUPPORTED_PTDS(name, parameters) WG_SAME(name) WG_SAME(name##_ptds)
#define WG_UNSUPPORTED_PTSZ(name, parameters) WG_SAME(name) WG_SAME(name##_ptsz)
#define WG_UNDECLARED(name) WG_SAME(name)
#include "warpgrind/runtime_functions.inc"
