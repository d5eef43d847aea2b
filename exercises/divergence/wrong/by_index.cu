__global__ void mixed(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (i % 2 == 0)
#pragma unroll 1
    for (int k = 0; k < 20; ++k) v = v * 0.5f + 1;
  else
#pragma unroll 1
    for (int k = 0; k < 30; ++k) v = v * 0.25f - 1;
  x[i] = v;
}
