// A library of an earlier release's name: for each function a jump to the same one of the library that has it.
// WG_JUMP(name, alias, symbol@version): made from the symbols of that library when it is built.
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
