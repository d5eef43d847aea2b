// One sweep: next = (left + right + above + below + h2 * f) / 4 of u inside; the border stays.
__global__ void jacobi(const float* u, float* next, const float* f, float h2, int n) {
  const int t = (blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.y * 32 + threadIdx.x;
  const int x = t / n, y = t % n;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  next[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + h2 * f[i]);
}
