// A stencil through the read-only path, with pitched memory and dynamic shared memory.
#include "check.h"

__global__ void stencil(const float* __restrict__ in, float* __restrict__ out, size_t pitch, int width, int height) {
  extern __shared__ float row[];
  const int x = threadIdx.x, y = blockIdx.x;
  const float* line = (const float*)((const char*)in + y * pitch);
  row[x] = __ldg(line + x);
  __syncthreads();
  if (x == 0 || x == width - 1 || y == 0 || y == height - 1) return;
  const float up = __ldg((const float*)((const char*)line - pitch) + x),
              down = __ldcg((const float*)((const char*)line + pitch) + x);
  out[y * width + x] = row[x - 1] + row[x + 1] + up + down - 4 * row[x];
}

int main() {
  const int width = 100, height = 40;
  static float host[height][width], back[height][width];
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) host[y][x] = float(x * x + 2 * y * y);
  float *in, *out;
  size_t pitch;
  CHECK(cudaMallocPitch(&in, &pitch, width * sizeof(float), height));
  CHECK(cudaMalloc(&out, sizeof back));
  CHECK(cudaMemset(out, 0, sizeof back));
  CHECK(cudaMemcpy2D(in, pitch, host, sizeof host[0], sizeof host[0], height, cudaMemcpyHostToDevice));
  CHECK(cudaFuncSetCacheConfig(stencil, cudaFuncCachePreferL1));
  stencil<<<height, width, width * sizeof(float)>>>(in, out, pitch, width, height);
  CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  for (int y = 1; y < height - 1; y++)
    for (int x = 1; x < width - 1; x++) expect_equal("stencil", y * width + x, back[y][x], 6);
  std::printf("stencil: right\n");
}
