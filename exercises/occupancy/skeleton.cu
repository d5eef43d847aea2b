__global__ void smooth(const float* in, float* out, int n) {
  extern __shared__ float s[];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = s[t] * 0.5f + s[t > 0 ? t - 1 : 0] * 0.5f;
}

// Requests more shared memory than the kernel needs.
void launch_smooth(const float* in, float* out, int n) {
  const int threads = 256;
  smooth<<<(n + threads - 1) / threads, threads, 40 * 1024>>>(in, out, n);
}
