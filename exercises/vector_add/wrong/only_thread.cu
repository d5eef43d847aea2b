__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
