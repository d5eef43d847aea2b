// Sizes and checks of matrix and vector operands, and the work they cause.
#pragma once

#include <cublas_v2.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "libraries/common/issue.h"
#include "libraries/products/openblas.h"

namespace warpgrind::libraries::blas {

// Name and text of a status, from the documentation of cublasStatus_t.
const char* name_of(cublasStatus_t status);
const char* text_of(cublasStatus_t status);

// Stores the answer of a query function.
template <class T>
cublasStatus_t give(T* out, T value) {
  if (!out) return CUBLAS_STATUS_INVALID_VALUE;
  *out = value;
  return CUBLAS_STATUS_SUCCESS;
}

// Issues a call as work of a stream. Fails if OpenBLAS is not installed.
cublasStatus_t issue_work(const char* function, std::string arguments, const LibraryWork& work, cudaStream_t stream,
                          bool host_waits, std::function<void(LibraryRun&)> run);

// ---- Work and memory of operands
template <class T>
LibraryArithmetic arithmetic_of() {
  return std::is_same_v<Real<T>, double> ? LibraryArithmetic::fp64 : LibraryArithmetic::fp32;
}
// Floating-point operations of one multiply-add.
template <class T>
constexpr double kFlops = kIsComplex<T> ? 8 : 2;

template <class T>
LibraryWork dense_work(double elements, double operations_each = 2) {
  LibraryWork work;
  work.family = LibraryFamily::dense;
  work.arithmetic = arithmetic_of<T>();
  work.bytes = elements * sizeof(T);
  work.operations = elements * operations_each * (kIsComplex<T> ? 4 : 1);
  return work;
}
template <class T>
LibraryWork product_work(double m, double n, double k, double elements, double batch = 1) {
  LibraryWork work;
  work.family = LibraryFamily::matrix_product;
  work.arithmetic = arithmetic_of<T>();
  work.operations = kFlops<T> * m * n * k * batch;
  work.bytes = elements * sizeof(T) * batch;
  work.depth = k;
  return work;
}

inline std::int64_t vector_elements(std::int64_t n, std::int64_t increment) {
  return n <= 0 ? 0 : 1 + (n - 1) * (increment < 0 ? -increment : increment);
}
inline std::int64_t matrix_elements(std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  return rows <= 0 || columns <= 0 ? 0 : (columns - 1) * ld + rows;
}
template <class T>
bool reads_vector(LibraryRun& run, const char* name, const T* x, std::int64_t n, std::int64_t increment) {
  return run.reads(name, x, static_cast<std::size_t>(vector_elements(n, increment)) * sizeof(T));
}
template <class T>
bool writes_vector(LibraryRun& run, const char* name, T* x, std::int64_t n, std::int64_t increment) {
  return run.writes(name, x, static_cast<std::size_t>(vector_elements(n, increment)) * sizeof(T));
}
template <class T>
bool reads_matrix(LibraryRun& run, const char* name, const T* a, std::int64_t rows, std::int64_t columns,
                  std::int64_t ld) {
  return run.reads(name, a, static_cast<std::size_t>(matrix_elements(rows, columns, ld)) * sizeof(T));
}
template <class T>
bool writes_matrix(LibraryRun& run, const char* name, T* a, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  return run.writes(name, a, static_cast<std::size_t>(matrix_elements(rows, columns, ld)) * sizeof(T));
}
// Address of element 0 of a vector. With a negative increment it is the last one in memory.
template <class T>
T* first_element(T* x, std::int64_t n, std::int64_t increment) {
  return increment < 0 ? x - (n - 1) * increment : x;
}

// ---- Checks and conversions of arguments
inline bool is_operation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C || op == CUBLAS_OP_CONJG;
}
inline bool is_transposed(cublasOperation_t op) {
  return op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}
inline bool is_triangle(cublasFillMode_t uplo) {
  return uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER;
}
inline bool is_side(cublasSideMode_t side) {
  return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT;
}
inline bool is_diagonal(cublasDiagType_t diag) {
  return diag == CUBLAS_DIAG_NON_UNIT || diag == CUBLAS_DIAG_UNIT;
}
// OpenBLAS has int sizes.
constexpr std::int64_t kMostElements = 2147483647;
template <class... Sizes>
bool fits(Sizes... sizes) {
  return ((sizes <= kMostElements && sizes >= -kMostElements) && ...);
}
inline int narrow(std::int64_t n) {
  return static_cast<int>(n);
}
inline double real(std::int64_t n) {
  return static_cast<double>(n);
}
// True if `ld` is a valid leading dimension for that many rows.
inline bool at_least(std::int64_t ld, std::int64_t rows) {
  return ld >= std::max<std::int64_t>(1, rows);
}
CBLAS_TRANSPOSE operation_of(cublasOperation_t op);
inline CBLAS_UPLO triangle_of(cublasFillMode_t uplo) {
  return uplo == CUBLAS_FILL_MODE_UPPER ? CblasUpper : CblasLower;
}
inline CBLAS_SIDE side_of(cublasSideMode_t side) {
  return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
}
inline CBLAS_DIAG diagonal_of(cublasDiagType_t diag) {
  return diag == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit;
}

// WG_REQUIRE: the arguments are valid according to the documentation. WG_FITS: OpenBLAS's int can hold the sizes.
#define WG_REQUIRE(condition) \
  if (!(condition)) return CUBLAS_STATUS_INVALID_VALUE
#define WG_FITS(...) \
  if (!fits(__VA_ARGS__)) return CUBLAS_STATUS_NOT_SUPPORTED

}  // namespace warpgrind::libraries::blas
