__global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
  for (int j = 0; j < 32; j += 8)
    if (x < columns && y + j < rows) tile[ty + j][tx] = in[(y + j) * columns + x];
  const int u = blockIdx.y * 32 + tx, v = blockIdx.x * 32 + ty;  // column and row of out
  for (int j = 0; j < 32; j += 8)
    if (u < rows && v + j < columns) out[(v + j) * rows + u] = tile[tx][ty + j];
}
