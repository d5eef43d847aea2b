// exercise: vector_add
// caught: it calls a library: cublasSaxpy_v2
// Calls cuBLAS, where the exercise asks for a kernel.
extern "C" int cublasSaxpy_v2(void*, int, const float*, const float*, int, float*, int);
struct First {
  First() { cublasSaxpy_v2(nullptr, 0, nullptr, nullptr, 1, nullptr, 1); }
} first;
__global__ void add(const float* a, const float* b, float* c, int n) {}
