// A block draws a tile of 16 x 16 pixels. It takes 256 circles at once, and lists those that touch the tile, in order.
__global__ void render_tile(const float4* circles, int count, float* image, int width, int height) {
  __shared__ float4 list[256];
  __shared__ int of_warps[8];
  const int t = threadIdx.y * 16 + threadIdx.x, lane = t % 32, warp = t / 32;
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const float left = blockIdx.x * 16, top = blockIdx.y * 16;
  float pixel = 0;
  for (int first = 0; first < count; first += 256) {
    const float4 mine = first + t < count ? circles[first + t] : float4{0, 0, -1, 0};
    const bool touches = mine.z >= 0 && mine.x >= left && mine.x <= left + 15 && mine.y >= top && mine.y <= top + 15;
    const unsigned votes = __ballot_sync(0xffffffff, touches);
    if (lane == 0) of_warps[warp] = __popc(votes);
    __syncthreads();
    int before = __popc(votes & ((1u << lane) - 1)), listed = 0;
    for (int w = 0; w < 8; ++w) {
      if (w == warp) before += listed;
      listed += of_warps[w];
    }
    if (touches) list[before] = mine;
    __syncthreads();
    for (int i = 0; i < listed; ++i) {
      const float4 c = list[i];
      if ((x - c.x) * (x - c.x) + (y - c.y) * (y - c.y) <= c.z * c.z) pixel = 0.5f * pixel + 0.5f * c.w;
    }
  }
  if (x < width && y < height) image[y * width + x] = pixel;
}

// A circle: x, y, z (its radius), w (its shade). circles, image: memory of the GPU.
void render(const float4* circles, int count, float* image, int width, int height) {
  const dim3 blocks((width + 15) / 16, (height + 15) / 16);
  render_tile<<<blocks, dim3(16, 16)>>>(circles, count, image, width, height);
}
