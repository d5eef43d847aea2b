constexpr int kTile = 16;

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * kTile + tx, y = blockIdx.y * kTile + ty;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    as[ty][tx] = y < m && first + tx < k ? a[y * k + first + tx] : 0;
    bs[ty][tx] = first + ty < k && x < n ? b[(first + ty) * n + x] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  if (x < n && y < m) c[y * n + x] = sum;
}
