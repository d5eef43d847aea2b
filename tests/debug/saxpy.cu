// Shown by the debugger's fronts in tests; never compiled.
__device__ float scale(float a, float x) {
  return a * x;
}
// fake_program.py names the lines below.

__global__ void saxpy(float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float product = a * x[i];
  y[i] = product + y[i];
}
