__global__ void sum_rows(const float* in, float* out) {
  __shared__ float s[32][33];
  const int t = threadIdx.x;
  for (int r = 0; r < 32; ++r) s[r][t] = in[blockIdx.x * 1024 + r * 32 + t];
  __syncwarp();
  float sum = 0;
  for (int c = 0; c < 32; ++c) sum += s[t][c];
  out[blockIdx.x * 32 + t] = sum;
}
