// Common parts of the tests of cuSOLVER: its functions by element type, and matrices by columns on the host.
#pragma once

#include <cusolverDn.h>

#include <algorithm>

#include "blas_types.h"

namespace warpgrind::test {

#define SOLVER(T, name) BLAS_OF(T, cusolverDnS##name, cusolverDnD##name, cusolverDnC##name, cusolverDnZ##name)
#define SOLVER2(T, real, complex) \
  BLAS_OF(T, cusolverDnS##real, cusolverDnD##real, cusolverDnC##complex, cusolverDnZ##complex)
#undef DONE
#define DONE(...) ASSERT_EQ(__VA_ARGS__, CUSOLVER_STATUS_SUCCESS)

using Types = testing::Types<float, double, Complex, DoubleComplex>;
inline constexpr auto kInvalid = CUSOLVER_STATUS_INVALID_VALUE;
inline constexpr auto kNone = CUSOLVER_STATUS_NOT_INITIALIZED;
inline constexpr auto kLower = CUBLAS_FILL_MODE_LOWER, kUpper = CUBLAS_FILL_MODE_UPPER;
inline constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR, kNoVectors = CUSOLVER_EIG_MODE_NOVECTOR;

template <class T>
double near() {
  return std::is_same_v<Real<T>, double> ? 1e-12 : 2e-4;
}
template <class T>
constexpr cudaDataType data_type() {
  return std::is_same_v<T, float>     ? CUDA_R_32F
         : std::is_same_v<T, double>  ? CUDA_R_64F
         : std::is_same_v<T, Complex> ? CUDA_C_32F
                                      : CUDA_C_64F;
}

// A matrix by columns in host memory.
template <class T>
struct Matrix {
  Matrix(int m, int n) : rows(m), columns(n), values(static_cast<std::size_t>(m * n)) {}
  T& operator()(int i, int j) { return values[static_cast<std::size_t>(j * rows + i)]; }
  T operator()(int i, int j) const { return values[static_cast<std::size_t>(j * rows + i)]; }
  int rows, columns;
  std::vector<T> values;
};
template <class T>
Matrix<T> random_matrix(int m, int n, unsigned seed) {
  std::mt19937 random(seed);
  Matrix<T> out(m, n);
  for (T& v : out.values) v = random_number<T>(random);
  return out;
}
template <class T>
Matrix<T> identity(int n) {
  Matrix<T> out(n, n);
  for (int i = 0; i < n; ++i) out(i, i) = T(1);
  return out;
}
template <class T>
Matrix<T> adjoint(const Matrix<T>& a) {
  Matrix<T> out(a.columns, a.rows);
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i) out(j, i) = conjugate(a(i, j));
  return out;
}
template <class T>
Matrix<T> transpose(const Matrix<T>& a) {
  Matrix<T> out(a.columns, a.rows);
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i) out(j, i) = a(i, j);
  return out;
}
template <class T>
Matrix<T> operator*(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> out(a.rows, b.columns);
  for (int j = 0; j < b.columns; ++j)
    for (int k = 0; k < a.columns; ++k)
      for (int i = 0; i < a.rows; ++i) out(i, j) += a(i, k) * b(k, j);
  return out;
}
template <class T>
Matrix<T> operator+(Matrix<T> a, const Matrix<T>& b) {
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i];
  return a;
}
// Hermitian, with eigenvalues of at least `least`.
template <class T>
Matrix<T> positive(int n, unsigned seed, double least = 1) {
  const Matrix<T> a = random_matrix<T>(n, n, seed);
  Matrix<T> out = a * adjoint(a);
  for (int i = 0; i < n; ++i) out(i, i) += static_cast<Real<T>>(least);
  return out;
}
template <class T>
Matrix<T> diagonal(const std::vector<Real<T>>& values, int rows, int columns) {
  Matrix<T> out(rows, columns);
  for (int i = 0; i < std::min({rows, columns, static_cast<int>(values.size())}); ++i)
    out(i, i) = T(values[static_cast<std::size_t>(i)]);
  return out;
}
enum class Part { upper, lower, unit_lower };
template <class T>
Matrix<T> part(const Matrix<T>& a, Part which, int rows, int columns) {
  Matrix<T> out(rows, columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      if (which == Part::upper ? i <= j : i > j || (i == j && which == Part::lower)) out(i, j) = a(i, j);
      if (i == j && which == Part::unit_lower) out(i, j) = T(1);
    }
  return out;
}
template <class T>
void expect_same(const Matrix<T>& expected, const Matrix<T>& got, double tolerance = near<T>()) {
  ASSERT_EQ(expected.rows, got.rows);
  ASSERT_EQ(expected.columns, got.columns);
  double largest = 1;
  for (const T& v : expected.values) largest = std::max<double>(largest, std::abs(v));
  for (std::size_t i = 0; i < expected.values.size(); ++i)
    ASSERT_LE(std::abs(expected.values[i] - got.values[i]), tolerance * largest) << "element " << i;
}
// Columns of orthonormal vectors.
template <class T>
void expect_orthonormal(const Matrix<T>& q) {
  expect_same(identity<T>(q.columns), adjoint(q) * q);
}

// A matrix on the device, with a leading dimension larger than needed by `pad`.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const Matrix<T>& a, int pad = 2)
      : rows_(a.rows),
        columns_(a.columns),
        ld_(a.rows + pad),
        values_(static_cast<std::size_t>(ld_ * a.columns), T(7)) {
    for (int j = 0; j < columns_; ++j)
      for (int i = 0; i < rows_; ++i) values_[static_cast<std::size_t>(j * ld_ + i)] = a(i, j);
  }
  OnDevice(int rows, int columns, int pad = 2) : OnDevice(Matrix<T>(rows, columns), pad) {}
  auto cuda() const { return cu(values_); }
  T* data() const { return values_.data(); }
  int ld() const { return ld_; }
  Matrix<T> host() const {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    Matrix<T> out(rows_, columns_);
    for (int j = 0; j < columns_; ++j)
      for (int i = 0; i < rows_; ++i) out(i, j) = values_[static_cast<std::size_t>(j * ld_ + i)];
    return out;
  }

 private:
  int rows_, columns_, ld_;
  Array<T> values_;
};

template <class T>
class Solver : public testing::Test {
 protected:
  Solver() { EXPECT_EQ(cusolverDnCreate(&handle), CUSOLVER_STATUS_SUCCESS); }
  ~Solver() override { EXPECT_EQ(cusolverDnDestroy(handle), CUSOLVER_STATUS_SUCCESS); }
  // Value of devInfo after the calls so far.
  int result(std::size_t i = 0) const {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return info[i];
  }
  cusolverDnHandle_t handle = nullptr;
  Array<int> info = Array<int>(8, -77);
  int lwork = 0;
  std::size_t bytes = 0, host_bytes = 0;
};

}  // namespace warpgrind::test
