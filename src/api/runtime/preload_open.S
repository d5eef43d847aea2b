// dlopen in the processes of a run. It may replace the file by ours (preload_open.cpp), then jumps to the C library's
// dlopen. It must jump, not call: that function finds its caller, and so the search path, by the return address.
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
