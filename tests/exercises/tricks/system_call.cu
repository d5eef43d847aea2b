// exercise: typical_program
// caught: inline assembly with system calls
// Ends the program by a system call of its own.
__global__ void square(const float* in, float* out, int n) {}
void square_all(const float* in, float* out, int n) {
  asm volatile("syscall" : : "a"(231), "D"(0) : "rcx", "r11", "memory");
}
