__global__ void blur(const float* in, float* out, int width, int height) {
  const int t = (blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.y * 32 + threadIdx.x;
  const int x = t / height, y = t % height;
  if (x >= width) return;
  float sum = 0;
  int count = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height) {
        sum += in[(y + dy) * width + x + dx];
        ++count;
      }
  out[y * width + x] = sum / count;
}
