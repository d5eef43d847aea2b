__global__ void render_pixels(const float4* circles, int count, float* image, int width, int height) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width || y >= height) return;
  float pixel = 0;
  for (int i = 0; i < count; ++i) {
    const float4 c = circles[i];
    if ((x - c.x) * (x - c.x) + (y - c.y) * (y - c.y) <= c.z * c.z) pixel = 0.5f * pixel + 0.5f * c.w;
  }
  image[y * width + x] = pixel;
}

// A circle: x, y, z (its radius), w (its shade). circles, image: memory of the GPU.
void render(const float4* circles, int count, float* image, int width, int height) {
  const dim3 blocks((width + 15) / 16, (height + 15) / 16);
  render_pixels<<<blocks, dim3(16, 16)>>>(circles, count, image, width, height);
}
