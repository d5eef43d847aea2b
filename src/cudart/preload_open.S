// dlopen of the processes of a run: the file may become ours (preload_open.cpp), and the C library's does the rest. It is
// jumped to, since it looks for libraries as its caller has to, whom it knows by the return address.
  .section .note.GNU-stack, "", @progbits
  .text

  .globl dlopen
  .type dlopen, @function
  .balign 16
dlopen:
  endbr64
  pushq %rdi
  pushq %rsi
  subq $8, %rsp
  movq 24(%rsp), %rsi
  call wg_file_to_open
  addq $8, %rsp
  popq %rsi
  popq %rdi
  movq %rax, %rdi
  jmp *wg_real_dlopen(%rip)
  .size dlopen, . - dlopen
