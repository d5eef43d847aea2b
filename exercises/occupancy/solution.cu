__global__ void smooth(const float* in, float* out, int n) {
  extern __shared__ float s[];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = s[t] * 0.5f + s[t > 0 ? t - 1 : 0] * 0.5f;
}

// Requests one float a thread.
void launch_smooth(const float* in, float* out, int n) {
  const int threads = 256;
  smooth<<<(n + threads - 1) / threads, threads, threads * sizeof(float)>>>(in, out, n);
}
