// The second name of each function of NCCL (pncclAllReduce), for profilers that wrap the first.
  .section .note.GNU-stack, "", @progbits
  .text

#define WG_NCCL(name)           \
  .globl p##name;               \
  .type p##name, @function;     \
  .balign 16;                   \
  p##name: endbr64;             \
  jmp name@PLT;                 \
  .size p##name, . - p##name;
#include "libraries/nccl/functions.inc"
#define WG_UNSUPPORTED_CALL(name) WG_NCCL(name)
#include "libraries/nccl/unsupported.inc"
