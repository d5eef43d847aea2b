__global__ void stencil(const float* in, float* out, int nx, int ny, int nz) {
  __shared__ float tile[10][34];  // a plane of the block, with its halo
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  const auto load = [&](int u, int v, int w) {
    const bool inside = u >= 0 && u < nx && v >= 0 && v < ny && w >= 0 && w < nz;
    return inside ? in[(w * ny + v) * nx + u] : 0;
  };
  float below = 0, centre = load(x, y, 0);
  for (int z = 0; z < nz; ++z) {
    const float above = load(x, y, z + 1);
    tile[ty + 1][tx + 1] = centre;
    if (tx == 0) tile[ty + 1][0] = load(x - 1, y, z);
    if (tx == 31) tile[ty + 1][33] = load(x + 1, y, z);
    if (ty == 0) tile[0][tx + 1] = load(x, y - 1, z);
    if (ty == 7) tile[9][tx + 1] = load(x, y + 1, z);
    __syncthreads();
    const float plane = tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty][tx + 1] + tile[ty + 2][tx + 1];
    if (x < nx && y < ny) out[(z * ny + y) * nx + x] = 0.25f * centre + 0.125f * (plane + below + above);
    below = centre;
    centre = above;
    __syncthreads();
  }
}
