__global__ void blur(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  int count = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height) {
        sum += in[(y + dy) * width + x + dx];
        ++count;
      }
  out[y * width + x] = sum / 9;
}
