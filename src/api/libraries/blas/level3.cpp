// BLAS 3: products of matrices, and triangular systems.
#include <algorithm>
#include <vector>

#include "libraries/blas/multiply.h"

namespace warpgrind::libraries::blas {
namespace {

template <class T>
cublasStatus_t gemm(const char* name, cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                    std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* a, std::int64_t lda,
                    const T* b, std::int64_t ldb, const T* beta, T* c, std::int64_t ldc) {
  constexpr cudaDataType type = kTypeOf<T>;
  const Product p{transa,
                  transb,
                  m,
                  n,
                  k,
                  1,
                  {type, a, nullptr, lda, 0},
                  {type, b, nullptr, ldb, 0},
                  {type, c, nullptr, ldc, 0},
                  std::is_same_v<Real<T>, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F};
  return multiply(name, handle, p, alpha, beta);
}
// The product by three real products instead of four. The result differs only by rounding, so the usual product is
// used.
template <class T>
cublasStatus_t gemm3m(const char* name, cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                      std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* a, std::int64_t lda,
                      const T* b, std::int64_t ldb, const T* beta, T* c, std::int64_t ldc) {
  return gemm(name, handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// C = alpha A B + beta C, or alpha B A + beta C, with a symmetric or Hermitian A.
template <class T, class Apply>
cublasStatus_t symmetric_product(const char* name, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                                 std::int64_t m, std::int64_t n, const T* alpha, const T* a, std::int64_t lda,
                                 const T* b, std::int64_t ldb, const T* beta, T* c, std::int64_t ldc, Apply apply) {
  WG_BEGIN_CALL(handle, name);
  const std::int64_t size = side == CUBLAS_SIDE_LEFT ? m : n;
  WG_REQUIRE(is_side(side) && is_triangle(uplo) && m >= 0 && n >= 0 && at_least(lda, size) && at_least(ldb, m) &&
             at_least(ldc, m));
  WG_FITS(m, n, lda, ldb, ldc);
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha && beta);
  const auto al = caller.scalar(alpha), be = caller.scalar(beta);
  return caller.issue(
      rectangle(m, n), product_work<T>(real(m), real(n), real(size), real(m) * real(n) * 3), [=](LibraryRun& run) {
        T av, bv;
        if (al.get(run, "alpha", av) && be.get(run, "beta", bv) && reads_matrix(run, "A", a, size, size, lda) &&
            reads_matrix(run, "B", b, m, n, ldb) && writes_matrix(run, "C", c, m, n, ldc))
          apply(av, bv);
      });
}
#define WG_SYMMETRIC_PRODUCT(function)                                                                              \
  template <class T>                                                                                                \
  cublasStatus_t function(const char* name, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,    \
                          std::int64_t m, std::int64_t n, const T* alpha, const T* a, std::int64_t lda, const T* b, \
                          std::int64_t ldb, const T* beta, T* c, std::int64_t ldc) {                                \
    return symmetric_product(name, handle, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc,                   \
                             [=](const T& av, const T& bv) {                                                        \
                               WG_BLAS(T, function)                                                                 \
                               (CblasColMajor, side_of(side), triangle_of(uplo), narrow(m), narrow(n), by(av), a,   \
                                narrow(lda), b, narrow(ldb), by(bv), c, narrow(ldc));                               \
                             });                                                                                    \
  }
WG_SYMMETRIC_PRODUCT(symm)
WG_SYMMETRIC_PRODUCT(hemm)
#undef WG_SYMMETRIC_PRODUCT

// One triangle of C = alpha op(A) op(A)^T + beta C, or the same with two matrices. A1, B1: types of alpha and beta.
template <class T, class A1, class B1, class Apply>
cublasStatus_t rank_k(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                      std::int64_t n, std::int64_t k, const A1* alpha, const T* a, std::int64_t lda, const T* b,
                      std::int64_t ldb, const B1* beta, T* c, std::int64_t ldc, Apply apply) {
  WG_BEGIN_CALL(handle, name);
  const std::int64_t rows = is_transposed(trans) ? k : n, columns = is_transposed(trans) ? n : k;
  WG_REQUIRE(is_triangle(uplo) && is_operation(trans) && n >= 0 && k >= 0 && at_least(lda, rows) &&
             (!b || at_least(ldb, rows)) && at_least(ldc, n));
  WG_FITS(n, k, lda, ldb, ldc);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha && beta);
  const auto al = caller.scalar(alpha);
  const auto be = caller.scalar(beta);
  return caller.issue(
      fmt::format("{0} x {0} x {1}", n, k),
      product_work<T>(real(n), real(n) / 2, real(k) * (b ? 2 : 1), real(n) * real(k) * (b ? 2 : 1)),
      [=](LibraryRun& run) {
        A1 av;
        B1 bv;
        if (al.get(run, "alpha", av) && be.get(run, "beta", bv) && reads_matrix(run, "A", a, rows, columns, lda) &&
            (!b || reads_matrix(run, "B", b, rows, columns, ldb)) && writes_matrix(run, "C", c, n, n, ldc))
          apply(av, bv);
      });
}
#define WG_RANK_K(function, A1)                                                                                      \
  template <class T>                                                                                                 \
  cublasStatus_t function(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,   \
                          std::int64_t n, std::int64_t k, const A1* alpha, const T* a, std::int64_t lda,             \
                          const A1* beta, T* c, std::int64_t ldc) {                                                  \
    return rank_k(name, handle, uplo, trans, n, k, alpha, a, lda, static_cast<const T*>(nullptr), lda, beta, c, ldc, \
                  [=](const A1& av, const A1& bv) {                                                                  \
                    WG_BLAS(T, function)                                                                             \
                    (CblasColMajor, triangle_of(uplo), operation_of(trans), narrow(n), narrow(k), by(av), a,         \
                     narrow(lda), by(bv), c, narrow(ldc));                                                           \
                  });                                                                                                \
  }
#define WG_RANK_2K(function, B1)                                                                                    \
  template <class T>                                                                                                \
  cublasStatus_t function(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,  \
                          std::int64_t n, std::int64_t k, const T* alpha, const T* a, std::int64_t lda, const T* b, \
                          std::int64_t ldb, const B1* beta, T* c, std::int64_t ldc) {                               \
    return rank_k(name, handle, uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc,                             \
                  [=](const T& av, const B1& bv) {                                                                  \
                    WG_BLAS(T, function)                                                                            \
                    (CblasColMajor, triangle_of(uplo), operation_of(trans), narrow(n), narrow(k), by(av), a,        \
                     narrow(lda), b, narrow(ldb), by(bv), c, narrow(ldc));                                          \
                  });                                                                                               \
  }
WG_RANK_K(syrk, T)
WG_RANK_K(herk, Real<T>)
WG_RANK_2K(syr2k, T)
WG_RANK_2K(her2k, Real<T>)
#undef WG_RANK_K
#undef WG_RANK_2K

// One triangle of C = alpha op(A) op(B)^T + beta C. The caller knows that the result is symmetric. Computes the whole
// product and writes one triangle.
template <class T>
void add_triangle(cublasFillMode_t uplo, cublasOperation_t trans, bool hermitian, std::int64_t n, std::int64_t k,
                  const T& alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, const T& beta, T* c,
                  std::int64_t ldc) {
  std::vector<T> sums(static_cast<std::size_t>(n * n));
  const bool transposed = is_transposed(trans);
  const CBLAS_TRANSPOSE other = hermitian ? CblasConjTrans : CblasTrans;
  const T zero{};
  WG_BLAS(T, gemm)
  (CblasColMajor, transposed ? other : CblasNoTrans, transposed ? CblasNoTrans : other, narrow(n), narrow(n), narrow(k),
   by(alpha), a, narrow(lda), b, narrow(ldb), by(zero), sums.data(), narrow(n));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = uplo == CUBLAS_FILL_MODE_UPPER ? 0 : j; i < (uplo == CUBLAS_FILL_MODE_UPPER ? j + 1 : n);
         ++i) {
      T& out = c[j * ldc + i];
      out = sums[static_cast<std::size_t>(j * n + i)] + (beta == zero ? zero : beta * out);
      if constexpr (kIsComplex<T>)
        if (hermitian && i == j) out = T(out.real());
    }
}
template <class T>
cublasStatus_t syrkx(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                     std::int64_t n, std::int64_t k, const T* alpha, const T* a, std::int64_t lda, const T* b,
                     std::int64_t ldb, const T* beta, T* c, std::int64_t ldc) {
  return rank_k(name, handle, uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc, [=](const T& av, const T& bv) {
    add_triangle(uplo, trans, false, n, k, av, a, lda, b, ldb, bv, c, ldc);
  });
}
template <class T>
cublasStatus_t herkx(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                     std::int64_t n, std::int64_t k, const T* alpha, const T* a, std::int64_t lda, const T* b,
                     std::int64_t ldb, const Real<T>* beta, T* c, std::int64_t ldc) {
  return rank_k(name, handle, uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
                [=](const T& av, const Real<T>& bv) {
                  add_triangle(uplo, trans, true, n, k, av, a, lda, b, ldb, T(bv), c, ldc);
                });
}

template <class T>
cublasStatus_t triangle_call(const char* name, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                             cublasOperation_t trans, cublasDiagType_t diag, std::int64_t m, std::int64_t n,
                             const T* alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c,
                             std::int64_t ldc, bool solve) {
  WG_BEGIN_CALL(handle, name);
  const std::int64_t size = side == CUBLAS_SIDE_LEFT ? m : n;
  WG_REQUIRE(is_side(side) && is_triangle(uplo) && is_operation(trans) && is_diagonal(diag) && m >= 0 && n >= 0 &&
             at_least(lda, size) && at_least(ldb, m) && at_least(ldc, m));
  WG_FITS(m, n, lda, ldb, ldc);
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha);
  const auto al = caller.scalar(alpha);
  return caller.issue(
      rectangle(m, n), product_work<T>(real(m), real(n), real(size) / 2, real(m) * real(n) * 2), [=](LibraryRun& run) {
        T av;
        if (!al.get(run, "alpha", av) || !reads_matrix(run, "A", a, size, size, lda) ||
            !reads_matrix(run, "B", b, m, n, ldb) || !writes_matrix(run, "C", c, m, n, ldc))
          return;
        if (b != c)
          for (std::int64_t j = 0; j < n; ++j) std::copy_n(b + j * ldb, m, c + j * ldc);
        (openblas().*(solve ? Blas<T>::trsm : Blas<T>::trmm))(CblasColMajor, side_of(side), triangle_of(uplo),
                                                              operation_of(trans), diagonal_of(diag), narrow(m),
                                                              narrow(n), by(av), a, narrow(lda), c, narrow(ldc));
      });
}
template <class T>
cublasStatus_t trmm(const char* name, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                    cublasOperation_t trans, cublasDiagType_t diag, std::int64_t m, std::int64_t n, const T* alpha,
                    const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c, std::int64_t ldc) {
  return triangle_call(name, handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, c, ldc, false);
}
template <class T>
cublasStatus_t trsm(const char* name, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                    cublasOperation_t trans, cublasDiagType_t diag, std::int64_t m, std::int64_t n, const T* alpha,
                    const T* a, std::int64_t lda, T* b, std::int64_t ldb) {
  return triangle_call(name, handle, side, uplo, trans, diag, m, n, alpha, a, lda, static_cast<const T*>(b), ldb, b,
                       ldb, true);
}

}  // namespace

}  // namespace warpgrind::libraries::blas

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::blas;

extern "C" {
#define WG_TYPED "libraries/blas/level3_entries.inc"
#include "libraries/blas/both_widths.inc"
#undef WG_TYPED
}
