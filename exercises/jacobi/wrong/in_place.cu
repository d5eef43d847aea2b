// One sweep: next = (left + right + above + below + h2 * f) / 4 of u inside; the border stays.
__global__ void jacobi(const float* u, float* next, const float* f, float h2, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  const_cast<float*>(u)[i] = next[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + h2 * f[i]);
}
