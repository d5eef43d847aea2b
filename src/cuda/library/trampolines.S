// libcuda.so.1: for each symbol of the driver API a jump to its function, whose address stands in the array that
// libcudart.so.13 exports (cuda/entries.h): 40 bytes an entry, the function at 24, its twin at 32. r11 is free at the
// start of a function (System V ABI).
  .section .note.GNU-stack, "", @progbits
  .text

#define WG_JUMP(symbol, at)                                   \
  .globl symbol;                                              \
  .type symbol, @function;                                    \
  .balign 16;                                                 \
  symbol: endbr64;                                            \
  movq warpgrind_driver_entries@GOTPCREL(%rip), %r11;         \
  jmp *(wg_entry * 40 + at)(%r11);                            \
  .size symbol, . - symbol;
#define WG_NEXT .set wg_entry, wg_entry + 1;

  .set wg_entry, 0
#define WG_DRIVER(name, symbol, version, parameters, arguments) WG_JUMP(symbol, 24) WG_NEXT
#define WG_DRIVER_PTDS(name, symbol, version, parameters, arguments) \
  WG_JUMP(symbol, 24) WG_JUMP(symbol##_ptds, 32) WG_NEXT
#define WG_DRIVER_PTSZ(name, symbol, version, parameters, arguments) \
  WG_JUMP(symbol, 24) WG_JUMP(symbol##_ptsz, 32) WG_NEXT
#define WG_DRIVER_UNDECLARED(name, symbol, version) WG_JUMP(symbol, 24) WG_NEXT
#define WG_DRIVER_NAME(name, symbol, version) WG_NEXT
#include "warpgrind/driver_rows.h"
