// exercise: vector_add
// caught: it replaces cudaMalloc, which belongs to the CUDA runtime
// Replaces a function of CUDA by a weak one.
extern "C" __attribute__((weak)) cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return cudaMallocManaged(pointer, bytes);
}
__global__ void add(const float* a, const float* b, float* c, int n) {}
