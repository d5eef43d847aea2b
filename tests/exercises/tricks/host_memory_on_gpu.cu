// exercise: launch_shape
// caught: host-pointer
// A kernel reads memory of the host, where it hopes for results.
__global__ void scale(float* x, const float* host, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = host[i];
}
void launch_scale(float* x, float factor, int n) {
  std::vector<float> here(n);
  scale<<<(n + 255) / 256, 256>>>(x, here.data() + 16, n);
}
