__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int threads = gridDim.x * blockDim.x, each = (n + threads - 1) / threads;
  const int begin = (blockIdx.x * blockDim.x + threadIdx.x) * each;
  for (int i = begin; i < begin + each && i < n; ++i) y[i] = a * x[i] + y[i];
}
