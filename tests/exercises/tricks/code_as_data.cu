// exercise: typical_program
// caught: is in a section for code
// Has machine code in a variable: mov edi, 0; mov eax, 231; syscall.
__attribute__((section(".text"))) const unsigned char code[] = {0x31, 0xff, 0xb8, 0xe7, 0, 0, 0, 0x0f, 0x05, 0xc3};
__global__ void square(const float* in, float* out, int n) {}
void square_all(const float* in, float* out, int n) {
  reinterpret_cast<void (*)()>(const_cast<unsigned char*>(code))();
}
