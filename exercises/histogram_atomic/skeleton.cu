__global__ void histogram(const unsigned char* x, unsigned* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) counts[x[i]] += 0;  // add 1 to the counter of the number x[i]
}
