// Trampolines of libcuda.so.1: each symbol of the driver API jumps to its function. The addresses are in the array that
// libcudart.so.13 exports (driver/entries.h; found by base/beside.c): 40 bytes an entry, the function at offset 24, its
// twin at 32. r11 is free at the start of a function (System V ABI).
  .section .note.GNU-stack, "", @progbits
  .text

// WARPGRIND_DRIVER_BEFORE: builds an older driver, without the symbols that were added in that version or later.
#ifndef WARPGRIND_DRIVER_BEFORE
#define WARPGRIND_DRIVER_BEFORE 1000000
#endif
#define WG_JUMP(symbol, version, at)                          \
  .if version < WARPGRIND_DRIVER_BEFORE;                      \
  .globl symbol;                                              \
  .type symbol, @function;                                    \
  .balign 16;                                                 \
  symbol: endbr64;                                            \
  movq wg_entries(%rip), %r11;                                \
  jmp *(wg_entry * 40 + at)(%r11);                            \
  .size symbol, . - symbol;                                   \
  .endif;
#define WG_NEXT .set wg_entry, wg_entry + 1;

  .set wg_entry, 0
#define WG_DRIVER(name, symbol, version, parameters, arguments) WG_JUMP(symbol, version, 24) WG_NEXT
#define WG_DRIVER_PTDS(name, symbol, version, parameters, arguments) \
  WG_JUMP(symbol, version, 24) WG_JUMP(symbol##_ptds, version, 32) WG_NEXT
#define WG_DRIVER_PTSZ(name, symbol, version, parameters, arguments) \
  WG_JUMP(symbol, version, 24) WG_JUMP(symbol##_ptsz, version, 32) WG_NEXT
#define WG_DRIVER_UNDECLARED(name, symbol, version) WG_JUMP(symbol, version, 24) WG_NEXT
#define WG_DRIVER_NAME(name, symbol, version) WG_NEXT
#include "warpgrind/driver_rows.h"
