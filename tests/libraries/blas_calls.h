// cuBLAS by element type: call<T>(S, D, C, Z) is the function for T with complex pointers as cuComplex's.
#pragma once

#include <cublas_v2.h>

#include "blas_types.h"

namespace warpgrind::test {

#define BLAS2(T, name) BLAS_OF(T, cublasS##name##_v2, cublasD##name##_v2, cublasC##name##_v2, cublasZ##name##_v2)
#define BLAS1(T, name) BLAS_OF(T, cublasS##name, cublasD##name, cublasC##name, cublasZ##name)
#define DONE(...) ASSERT_EQ(__VA_ARGS__, CUBLAS_STATUS_SUCCESS)

template <class T>
double tolerance() {
  return std::is_same_v<Real<T>, double> ? 1e-12 : 1e-4;
}

// A matrix by columns, and op() of it.
template <class T>
T element(const std::vector<T>& a, int ld, cublasOperation_t op, int i, int j) {
  const T v = op == CUBLAS_OP_N ? a[static_cast<std::size_t>(j * ld + i)] : a[static_cast<std::size_t>(i * ld + j)];
  return op == CUBLAS_OP_C ? conjugate(v) : v;
}
template <class T>
void product(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, T alpha, const std::vector<T>& a, int lda,
             const std::vector<T>& b, int ldb, T beta, std::vector<T>& c, int ldc) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      T sum{};
      for (int p = 0; p < k; ++p) sum += element(a, lda, ta, i, p) * element(b, ldb, tb, p, j);
      T& out = c[static_cast<std::size_t>(j * ldc + i)];
      out = alpha * sum + (beta == T{} ? T{} : beta * out);
    }
}

template <class T>
class Blas : public testing::Test {
 protected:
  Blas() { EXPECT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS); }
  ~Blas() override { EXPECT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS); }
  cublasHandle_t handle = nullptr;
};
using Types = testing::Types<float, double, Complex, DoubleComplex>;

inline constexpr cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
inline constexpr cublasFillMode_t kTriangles[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};
inline constexpr cublasSideMode_t kSides[] = {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT};
inline constexpr cublasDiagType_t kDiagonals[] = {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT};

// The full matrix that a triangle of `a` represents.
template <class T>
std::vector<T> symmetric(const std::vector<T>& a, int n, cublasFillMode_t uplo, bool hermitian) {
  std::vector<T> out(a.size());
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const bool stored = uplo == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j;
      T v = stored ? a[static_cast<std::size_t>(j * n + i)] : a[static_cast<std::size_t>(i * n + j)];
      if (hermitian && !stored) v = conjugate(v);
      if constexpr (kIsComplex<T>)
        if (hermitian && i == j) v = T(v.real());
      out[static_cast<std::size_t>(j * n + i)] = v;
    }
  return out;
}
template <class T>
std::vector<T> triangular(const std::vector<T>& a, int n, cublasFillMode_t uplo, cublasDiagType_t diag) {
  std::vector<T> out(a.size());
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const bool stored = uplo == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j;
      if (stored) out[static_cast<std::size_t>(j * n + i)] = a[static_cast<std::size_t>(j * n + i)];
      if (i == j && diag == CUBLAS_DIAG_UNIT) out[static_cast<std::size_t>(j * n + i)] = T(1);
    }
  return out;
}
// The stored triangle, packed by columns.
template <class T>
std::vector<T> packed(const std::vector<T>& a, int n, cublasFillMode_t uplo) {
  std::vector<T> out;
  for (int j = 0; j < n; ++j)
    for (int i = uplo == CUBLAS_FILL_MODE_UPPER ? 0 : j; i < (uplo == CUBLAS_FILL_MODE_UPPER ? j + 1 : n); ++i)
      out.push_back(a[static_cast<std::size_t>(j * n + i)]);
  return out;
}
template <class T>
void copy_to(const Array<T>& to, const std::vector<T>& from) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
}

}  // namespace warpgrind::test
