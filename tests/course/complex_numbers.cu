// libcu++'s complex numbers, on both sides: products, quotients and functions, a Julia set by them.
#include <cuda/std/complex>

#include "check.h"

using Complex = cuda::std::complex<float>;

__host__ __device__ int steps(Complex z) {
  const Complex c(-0.4f, 0.6f);
  int count = 0;
  for (; count < 50 && z.real() * z.real() + z.imag() * z.imag() < 4.0f; count++) z = z * z + c;
  return count;
}
__host__ __device__ Complex point(int i) {
  return Complex(-1.5f + 0.0937f * (i % 32), -1.5f + 0.0937f * (i / 32));
}
__global__ void julia(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = steps(point(i));
}
__global__ void functions(float* out) {
  const Complex a(1, 2), b(3, -1), product = a * b, quotient = product / b, power = cuda::std::exp(a);
  out[0] = product.real(), out[1] = product.imag();
  out[2] = quotient.real(), out[3] = quotient.imag();
  out[4] = power.real(), out[5] = power.imag();
  out[6] = cuda::std::abs(Complex(3, 4));
  out[7] = cuda::std::sqrt(Complex(-4, 0)).imag();
}

int main() {
  const int n = 1024;
  int* counts;
  float* values;
  CHECK(cudaMallocManaged(&counts, n * sizeof(int)));
  CHECK(cudaMallocManaged(&values, 8 * sizeof(float)));
  julia<<<n / 128, 128>>>(counts);
  functions<<<1, 1>>>(values);
  CHECK(cudaDeviceSynchronize());
  // A point at the edge may go another way by the last bit of a fused multiply-add.
  int other = 0;
  for (int i = 0; i < n; i++) other += counts[i] != steps(point(i));
  expect(other <= n / 50, "points that differ from the host's", 0, other, 0);
  const double wanted[8] = {5, 5, 1, 2, -1.1312043837568135, 2.4717266720048188, 5, 2};
  for (int i = 0; i < 8; i++) expect_near("value", i, values[i], wanted[i], 1e-6);
  std::printf("complex_numbers: right\n");
}
