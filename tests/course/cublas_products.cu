// cuBLAS: a product of matrices against the host's, a matrix by a vector, and vectors; all column by column.
#include <cublas_v2.h>

#include <vector>

#include "check.h"

#define CHECK_BLAS(call)                                                       \
  do {                                                                         \
    const cublasStatus_t status_ = (call);                                     \
    if (status_ != CUBLAS_STATUS_SUCCESS) {                                    \
      std::printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call, int(status_)); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

__global__ void scale(float* x, int n, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}

int main() {
  const int m = 37, n = 29, k = 53;
  std::vector<float> a(m * k), b(k * n), c(m * n), x(k), y(m), first(c);
  unsigned int state = 3;
  for (std::vector<float>* v : {&a, &b, &c, &x, &y})
    for (float& e : *v) e = float(int((state = state * 1664525u + 1013904223u) >> 20) % 17 - 8) / 4;
  first = c;
  float *da, *db, *dc, *dx, *dy;
  CHECK(cudaMalloc(&da, a.size() * sizeof(float)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(float)));
  CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
  CHECK(cudaMalloc(&dx, x.size() * sizeof(float)));
  CHECK(cudaMalloc(&dy, y.size() * sizeof(float)));
  cublasHandle_t handle;
  CHECK_BLAS(cublasCreate(&handle));
  CHECK_BLAS(cublasSetMatrix(m, k, sizeof(float), a.data(), m, da, m));
  CHECK_BLAS(cublasSetMatrix(k, n, sizeof(float), b.data(), k, db, k));
  CHECK_BLAS(cublasSetMatrix(m, n, sizeof(float), c.data(), m, dc, m));
  CHECK_BLAS(cublasSetVector(k, sizeof(float), x.data(), 1, dx, 1));
  CHECK_BLAS(cublasSetVector(m, sizeof(float), y.data(), 1, dy, 1));

  // Quarters of small integers: every sum is exact, in any order.
  const float alpha = 2, beta = -1;
  CHECK_BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, da, m, db, k, &beta, dc, m));
  CHECK_BLAS(cublasGetMatrix(m, n, sizeof(float), dc, m, c.data(), m));
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += double(a[l * m + i]) * b[j * k + l];
      expect_equal("sgemm", j * m + i, c[j * m + i], 2 * sum - first[j * m + i]);
    }

  // A kernel before it in the stream, and the transposed matrix.
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK_BLAS(cublasSetStream(handle, stream));
  CHECK(cudaDeviceSynchronize());
  scale<<<1, 64, 0, stream>>>(dy, m, 3.0f);
  const float one = 1, zero = 0;
  CHECK_BLAS(cublasSgemv(handle, CUBLAS_OP_T, m, k, &one, da, m, dy, 1, &zero, dx, 1));
  std::vector<float> got(k);
  CHECK(cudaMemcpyAsync(got.data(), dx, k * sizeof(float), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int l = 0; l < k; l++) {
    double sum = 0;
    for (int i = 0; i < m; i++) sum += double(a[l * m + i]) * 3 * y[i];
    expect_equal("sgemv", l, got[l], sum);
  }

  float dot = 0, norm = 0, sum = 0;
  int at = 0;
  CHECK_BLAS(cublasSdot(handle, k, dx, 1, dx, 1, &dot));
  CHECK_BLAS(cublasSnrm2(handle, k, dx, 1, &norm));
  CHECK_BLAS(cublasSasum(handle, k, dx, 1, &sum));
  CHECK_BLAS(cublasIsamax(handle, k, dx, 1, &at));
  double squares = 0, absolute = 0;
  int largest = 0;
  for (int l = 0; l < k; l++) {
    squares += double(got[l]) * got[l];
    absolute += std::fabs(got[l]);
    if (std::fabs(got[l]) > std::fabs(got[largest])) largest = l;
  }
  expect_near("sdot", 0, dot, squares, 1e-5);
  expect_near("snrm2", 0, norm, std::sqrt(squares), 1e-5);
  expect_near("sasum", 0, sum, absolute, 1e-5);
  expect_equal("isamax (counts from 1)", 0, at, largest + 1);

  CHECK_BLAS(cublasSaxpy(handle, m, &alpha, dy, 1, dc, 1));
  CHECK(cudaMemcpyAsync(got.data(), dc, m * sizeof(float), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < m; i++) expect_equal("saxpy", i, got[i], c[i] + 6.0 * y[i]);
  if (cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, da, m - 1, db, k, &beta, dc, m) !=
      CUBLAS_STATUS_INVALID_VALUE) {
    std::printf("a leading dimension below the rows was taken\n");
    return 1;
  }
  CHECK_BLAS(cublasDestroy(handle));
  std::printf("cublas_products: right\n");
}
