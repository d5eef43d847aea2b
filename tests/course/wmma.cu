// Warp matrix functions: half with float sums, 8-bit integers, bfloat16, tf32 and double.
#include <mma.h>

#include "check.h"

using namespace nvcuda;

template <int m, int n, int k, class T, class Sum, class Stored>
__global__ void multiply(const Stored* a, const Stored* b, Sum* c) {
  wmma::fragment<wmma::matrix_a, m, n, k, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, m, n, k, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> fc;
  wmma::fill_fragment(fc, Sum(1));
  wmma::load_matrix_sync(fa, a, k);
  wmma::load_matrix_sync(fb, b, k);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] * Sum(2);
  wmma::store_matrix_sync(c, fc, n, wmma::mem_row_major);
}

template <int m, int n, int k, class T, class Sum, class Stored>
void run(const char* name) {
  Stored a[m * k], b[n * k], *device;
  Sum c[m * n], *device_c;
  for (int i = 0; i < m * k; i++) a[i] = Stored(float(i % 5));
  for (int i = 0; i < n * k; i++) b[i] = Stored(float(i % 7));
  CHECK(cudaMalloc(&device, sizeof a + sizeof b));
  CHECK(cudaMalloc(&device_c, sizeof c));
  CHECK(cudaMemcpy(device, a, sizeof a, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device + m * k, b, sizeof b, cudaMemcpyHostToDevice));
  multiply<m, n, k, T, Sum, Stored><<<1, 32>>>(device, device + m * k, device_c);
  CHECK(cudaMemcpy(c, device_c, sizeof c, cudaMemcpyDeviceToHost));
  for (int y = 0; y < m; y++)
    for (int x = 0; x < n; x++) {
      double sum = 1;
      for (int i = 0; i < k; i++) sum += double(float(a[y * k + i])) * double(float(b[x * k + i]));
      expect_equal(name, y * n + x, double(c[y * n + x]), 2 * sum);
    }
}

int main() {
  run<16, 16, 16, __half, float, __half>("half, 16 x 16 x 16");
  run<32, 8, 16, __half, float, __half>("half, 32 x 8 x 16");
  run<8, 32, 16, __half, float, __half>("half, 8 x 32 x 16");
  run<16, 16, 16, signed char, int, signed char>("s8");
  run<32, 8, 16, unsigned char, int, unsigned char>("u8");
  run<16, 16, 16, __nv_bfloat16, float, __nv_bfloat16>("bfloat16");
  run<16, 16, 8, wmma::precision::tf32, float, float>("tf32");
  run<8, 8, 4, double, double, double>("double");
  std::printf("wmma: right\n");
}
