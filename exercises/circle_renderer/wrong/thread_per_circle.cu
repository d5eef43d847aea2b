__global__ void render_circles(const float4* circles, int count, float* image, int width, int height) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= count) return;
  const float4 c = circles[i];
  for (int y = max(0, int(c.y - c.z)); y <= min(height - 1, int(c.y + c.z)); ++y)
    for (int x = max(0, int(c.x - c.z)); x <= min(width - 1, int(c.x + c.z)); ++x)
      if ((x - c.x) * (x - c.x) + (y - c.y) * (y - c.y) <= c.z * c.z)
        image[y * width + x] = 0.5f * image[y * width + x] + 0.5f * c.w;
}

// A circle: x, y, z (its radius), w (its shade). circles, image: memory of the GPU.
void render(const float4* circles, int count, float* image, int width, int height) {
  cudaMemset(image, 0, width * height * sizeof(float));
  if (count > 0) render_circles<<<(count + 127) / 128, 128>>>(circles, count, image, width, height);
}
