__global__ void scale(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i] + 1;
}

// Returns the sum of 2 * x + 1 over x = 0 .. n - 1.
double sum_managed(int n) {
  float *in, *out;
  cudaMallocManaged(&in, n * sizeof(float));
  cudaMallocManaged(&out, n * sizeof(float));
  for (int i = 0; i < n; ++i) in[i] = i;
  scale<<<(n + 255) / 256, 256>>>(in, out, n);
  cudaDeviceSynchronize();
  double sum = 0;
  float* host = new float[n];
  cudaMemcpy(host, out, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) sum += host[i];
  delete[] host;
  cudaFree(in);
  cudaFree(out);
  return sum;
}
