// exercise: bandwidth
// caught: GB/s: it is
// The work is in a stream that the events do not see.
__global__ void copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
double measured_bandwidth(const float* in, float* out, int n) {
  cudaStream_t aside;
  cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  copy<<<(n + 255) / 256, 256, 0, aside>>>(in, out, n);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float ms = 0;
  cudaEventElapsedTime(&ms, start, stop);
  cudaStreamSynchronize(aside);
  cudaStreamDestroy(aside);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return 2.0 * n * sizeof(float) / (ms / 1000 + 1e-9) / 1e9;
}
