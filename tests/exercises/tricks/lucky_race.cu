// exercise: vector_add
// caught: race-
// Reads what the block before this one has written: right as long as blocks run one after the other.
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 256 && i < n) c[i] = a[i] + b[i];
  if (i >= 256 && i < n) c[i] = a[i] + b[i] + 0 * c[i - 256];
}
