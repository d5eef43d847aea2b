__global__ void blur_rows(const float* in, float* out, int width) {
  const int x = blockIdx.x * 256 + threadIdx.x;
  if (x >= width) return;
  float sum = 0;
  for (int k = -4; k <= 4; ++k)
    if (x + k >= 0 && x + k < width) sum += in[blockIdx.y * width + x + k];
  out[blockIdx.y * width + x] = sum / 9;
}
