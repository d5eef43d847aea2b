__global__ void stencil(const float* in, float* out, int nx, int ny, int nz) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const auto load = [&](int u, int v, int w) {
    const bool inside = u >= 0 && u < nx && v >= 0 && v < ny && w >= 0 && w < nz;
    return inside ? in[(w * ny + v) * nx + u] : 0;
  };
  if (x >= nx || y >= ny) return;
  for (int z = 0; z < nz; ++z) {
    float sum = load(x - 1, y, z) + load(x + 1, y, z) + load(x, y - 1, z) + load(x, y + 1, z);
    sum += load(x, y, z - 1) + load(x, y, z + 1);
    out[(z * ny + y) * nx + x] = 0.25f * load(x, y, z) + 0.125f * sum;
  }
}
