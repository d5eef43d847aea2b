// A thread may take any element if each is done once, so the threads of a warp take elements of one kind.
__global__ void mixed(float* x, int n) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int pair = warp / 2, kind = warp % 2;
  const int i = blockIdx.x * blockDim.x + 64 * pair + 2 * lane + kind;
  if (i >= n) return;
  float v = x[i];
  if (kind == 0)
#pragma unroll 1
    for (int k = 0; k < 20; ++k) v = v * 0.5f + 1;
  else
#pragma unroll 1
    for (int k = 0; k < 30; ++k) v = v * 0.25f - 1;
  x[i] = v;
}
