// Trampolines of libnvidia-ml.so.1: each NVML function jumps to its implementation. The addresses are in the array that
// libcudart.so.13 exports (nvml/entries.cpp; found by base/beside.c). r11 is free at the start of a function (System V
// ABI).
  .section .note.GNU-stack, "", @progbits
  .text

  .set wg_entry, 0
#define WG_NVML(result, name, parameters, arguments)          \
  .globl name;                                                \
  .type name, @function;                                      \
  .balign 16;                                                 \
  name: endbr64;                                              \
  movq wg_entries(%rip), %r11;                                \
  jmp *(wg_entry * 8)(%r11);                                  \
  .size name, . - name;                                       \
  .set wg_entry, wg_entry + 1;
#define WG_NVML_UNSUPPORTED(name, parameters) WG_NVML(int, name, parameters, ())
#define WG_NVML_UNDECLARED(name) WG_NVML(int, name, (), ())
#include "warpgrind/nvml_functions.inc"
