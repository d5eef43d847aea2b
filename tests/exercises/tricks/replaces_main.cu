// exercise: vector_add
// caught: it has a main()
// Has the program's main function.
__global__ void add(const float* a, const float* b, float* c, int n) {}
int main() {
  return 0;
}
