__global__ void convolve_pixels(const float* in, const float* weights, float* out, int width, int height) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int dy = 0; dy < 5; ++dy)
    for (int dx = 0; dx < 5; ++dx) {
      const int u = x + dx - 2, v = y + dy - 2;
      if (u >= 0 && u < width && v >= 0 && v < height) sum += weights[dy * 5 + dx] * in[v * width + u];
    }
  out[y * width + x] = sum;
}

// weights: 25 floats in the host's memory. in, out: memory of the GPU.
void convolve(const float* in, const float* weights, float* out, int width, int height) {
  float* w;
  cudaMalloc(&w, 25 * sizeof(float));
  cudaMemcpy(w, weights, 25 * sizeof(float), cudaMemcpyHostToDevice);
  convolve_pixels<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(in, w, out, width, height);
  cudaFree(w);
}
