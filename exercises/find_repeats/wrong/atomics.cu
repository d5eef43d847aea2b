__global__ void collect(const int* x, int* places, int* count, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i + 1 < n && x[i] == x[i + 1]) places[atomicAdd(count, 1)] = i;
}

// Writes every i with x[i] == x[i + 1] to places, and returns their number.
int find_repeats(const int* x, int* places, int n) {
  int *found, count = 0;
  cudaMalloc(&found, sizeof(int));
  cudaMemset(found, 0, sizeof(int));
  collect<<<(n + 255) / 256, 256>>>(x, places, found, n);
  cudaMemcpy(&count, found, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(found);
  return count;
}
