// exercise: vector_add
// caught: oob-
// Writes into the memory beside its results, where a reference could be.
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
  if (i < 64) c[n + i] = 0;
}
