__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[y * k + i] * b[i * n + x];
  c[y * n + x] = sum;
}
