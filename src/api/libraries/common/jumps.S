// Jumps of a library with an earlier release's name: each function jumps to the same function of the current library.
// WG_JUMP(name, alias, symbol@version): these rows are generated from that library's symbols at build time.
  .section .note.GNU-stack, "", @progbits
  .text

#define WG_JUMP(name, alias, symbol) \
  .symver alias, symbol;             \
  .globl name;                       \
  .type name, @function;             \
  .balign 16;                        \
  name: endbr64;                     \
  jmp *alias@GOTPCREL(%rip);         \
  .size name, . - name;
#include WARPGRIND_JUMPS
