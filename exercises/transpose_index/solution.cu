__global__ void transpose(const float* in, float* out, int rows, int columns) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  for (int y = blockIdx.y * 32 + threadIdx.y; y < blockIdx.y * 32 + 32; y += 8)
    if (x < columns && y < rows) out[x * rows + y] = in[y * columns + x];
}
