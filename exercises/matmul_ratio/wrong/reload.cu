constexpr int kTile = 16;

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[2 * kTile][kTile], bs[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * kTile + tx, y = blockIdx.y * (2 * kTile) + ty;
  float sum = 0, sum2 = 0;
  for (int first = 0; first < k; first += kTile) {
    as[ty][tx] = y < m && first + tx < k ? a[y * k + first + tx] : 0;
    as[ty + kTile][tx] = y + kTile < m && first + tx < k ? a[(y + kTile) * k + first + tx] : 0;
    bs[ty][tx] = first + ty < k && x < n ? b[(first + ty) * n + x] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      sum += as[ty][i] * bs[i][tx];
      sum2 += (y + kTile < m && first + i < k ? a[(y + kTile) * k + first + i] : 0) * bs[i][tx];
    }
    __syncthreads();
  }
  if (x < n && y < m) c[y * n + x] = sum;
  if (x < n && y + kTile < m) c[(y + kTile) * n + x] = sum2;
}
