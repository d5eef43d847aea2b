// BLAS 2: matrices and vectors.
#include <algorithm>

#include "libraries/blas/context.h"

namespace warpgrind::libraries::blas {
namespace {

std::string square(std::int64_t n) {
  return fmt::format("{0} x {0}", n);
}
double count(std::int64_t a, std::int64_t b = 1) {
  return static_cast<double>(a) * static_cast<double>(b);
}
// Elements of a packed triangle.
std::int64_t packed(std::int64_t n) {
  return n * (n + 1) / 2;
}
template <class T>
bool reads_packed(LibraryRun& run, const T* ap, std::int64_t n) {
  return run.reads("AP", ap, static_cast<std::size_t>(packed(n)) * sizeof(T));
}
template <class T>
bool writes_packed(LibraryRun& run, T* ap, std::int64_t n) {
  return run.writes("AP", ap, static_cast<std::size_t>(packed(n)) * sizeof(T));
}

template <class T>
cublasStatus_t gemv(const char* name, cublasHandle_t handle, cublasOperation_t trans, std::int64_t m, std::int64_t n,
                    const T* alpha, const T* a, std::int64_t lda, const T* x, std::int64_t incx, const T* beta, T* y,
                    std::int64_t incy) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(is_operation(trans) && m >= 0 && n >= 0 && at_least(lda, m) && incx && incy);
  WG_FITS(m, n, lda, incx, incy);
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha && beta);
  const auto al = caller.scalar(alpha), be = caller.scalar(beta);
  const std::int64_t xs = is_transposed(trans) ? m : n, ys = is_transposed(trans) ? n : m;
  return caller.issue(rectangle(m, n), dense_work<T>(count(m, n)), [=](LibraryRun& run) {
    T av, bv;
    if (!al.get(run, "alpha", av) || !be.get(run, "beta", bv) || !reads_matrix(run, "A", a, m, n, lda) ||
        !reads_vector(run, "x", x, xs, incx) || !writes_vector(run, "y", y, ys, incy))
      return;
    WG_BLAS(T, gemv)
    (CblasColMajor, operation_of(trans), narrow(m), narrow(n), by(av), a, narrow(lda), x, narrow(incx), by(bv), y,
     narrow(incy));
  });
}

template <class T>
cublasStatus_t gbmv(const char* name, cublasHandle_t handle, cublasOperation_t trans, std::int64_t m, std::int64_t n,
                    std::int64_t kl, std::int64_t ku, const T* alpha, const T* a, std::int64_t lda, const T* x,
                    std::int64_t incx, const T* beta, T* y, std::int64_t incy) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(is_operation(trans) && m >= 0 && n >= 0 && kl >= 0 && ku >= 0 && lda >= kl + ku + 1 && incx && incy);
  WG_FITS(m, n, kl, ku, lda, incx, incy);
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha && beta);
  const auto al = caller.scalar(alpha), be = caller.scalar(beta);
  const std::int64_t xs = is_transposed(trans) ? m : n, ys = is_transposed(trans) ? n : m;
  return caller.issue(rectangle(m, n), dense_work<T>(count(n, kl + ku + 1)), [=](LibraryRun& run) {
    T av, bv;
    if (!al.get(run, "alpha", av) || !be.get(run, "beta", bv) || !reads_matrix(run, "A", a, kl + ku + 1, n, lda) ||
        !reads_vector(run, "x", x, xs, incx) || !writes_vector(run, "y", y, ys, incy))
      return;
    WG_BLAS(T, gbmv)
    (CblasColMajor, operation_of(trans), narrow(m), narrow(n), narrow(kl), narrow(ku), by(av), a, narrow(lda), x,
     narrow(incx), by(bv), y, narrow(incy));
  });
}

// x = op(A) x, or the solution x of op(A) x = b. A is a triangle, stored as a full matrix, as a band, or packed.
// `reads` checks access to A, `apply` calls OpenBLAS.
template <class T, class Reads, class Apply>
cublasStatus_t triangular(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                          cublasDiagType_t diag, std::int64_t n, bool ld_is_right, double elements, T* x,
                          std::int64_t incx, Reads reads, Apply apply) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(is_triangle(uplo) && is_operation(trans) && is_diagonal(diag) && n >= 0 && ld_is_right && incx);
  WG_FITS(n, incx);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  return caller.issue(square(n), dense_work<T>(elements), [=](LibraryRun& run) {
    if (reads(run) && writes_vector(run, "x", x, n, incx))
      apply(triangle_of(uplo), operation_of(trans), diagonal_of(diag), narrow(n));
  });
}
// x = op(A) x, or the solution of op(A) x = b, depending on OpenBLAS's routine.
template <class T, class Routine>
cublasStatus_t by_triangle(const char* name, cublasHandle_t handle, Routine OpenBlas::*routine, cublasFillMode_t uplo,
                           cublasOperation_t trans, cublasDiagType_t diag, std::int64_t n, const T* a, std::int64_t lda,
                           T* x, std::int64_t incx) {
  WG_FITS(lda);
  return triangular(
      name, handle, uplo, trans, diag, n, at_least(lda, n), count(n, n) / 2, x, incx,
      [=](LibraryRun& run) { return reads_matrix(run, "A", a, n, n, lda); },
      [=](auto u, auto t, auto d, int size) {
        (openblas().*routine)(CblasColMajor, u, t, d, size, a, narrow(lda), x, narrow(incx));
      });
}
template <class T, class Routine>
cublasStatus_t by_banded_triangle(const char* name, cublasHandle_t handle, Routine OpenBlas::*routine,
                                  cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, std::int64_t n,
                                  std::int64_t k, const T* a, std::int64_t lda, T* x, std::int64_t incx) {
  WG_FITS(lda, k);
  return triangular(
      name, handle, uplo, trans, diag, n, k >= 0 && lda >= k + 1, count(n, k + 1), x, incx,
      [=](LibraryRun& run) { return reads_matrix(run, "A", a, k + 1, n, lda); },
      [=](auto u, auto t, auto d, int size) {
        (openblas().*routine)(CblasColMajor, u, t, d, size, narrow(k), a, narrow(lda), x, narrow(incx));
      });
}
template <class T, class Routine>
cublasStatus_t by_packed_triangle(const char* name, cublasHandle_t handle, Routine OpenBlas::*routine,
                                  cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, std::int64_t n,
                                  const T* ap, T* x, std::int64_t incx) {
  return triangular(
      name, handle, uplo, trans, diag, n, true, count(packed(n)), x, incx,
      [=](LibraryRun& run) { return reads_packed(run, ap, n); },
      [=](auto u, auto t, auto d, int size) {
        (openblas().*routine)(CblasColMajor, u, t, d, size, ap, x, narrow(incx));
      });
}

// y = alpha A x + beta y with a symmetric or Hermitian A.
template <class T, class Reads, class Apply>
cublasStatus_t symmetric(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, std::int64_t n,
                         bool ld_is_right, double elements, const T* alpha, const T* x, std::int64_t incx,
                         const T* beta, T* y, std::int64_t incy, Reads reads, Apply apply) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(is_triangle(uplo) && n >= 0 && ld_is_right && incx && incy);
  WG_FITS(n, incx, incy);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha && beta);
  const auto al = caller.scalar(alpha), be = caller.scalar(beta);
  return caller.issue(square(n), dense_work<T>(elements, 4), [=](LibraryRun& run) {
    T av, bv;
    if (al.get(run, "alpha", av) && be.get(run, "beta", bv) && reads(run) && reads_vector(run, "x", x, n, incx) &&
        writes_vector(run, "y", y, n, incy))
      apply(triangle_of(uplo), narrow(n), av, bv);
  });
}
// Product with a complex symmetric matrix: like the Hermitian one, without the conjugation. OpenBLAS has no cblas
// function for it.
template <class T>
void multiply_symmetric(CBLAS_UPLO uplo, std::int64_t n, T alpha, const T* a, std::int64_t lda, const T* x,
                        std::int64_t incx, T beta, T* y, std::int64_t incy) {
  const T* const xs = first_element(x, n, incx);
  T* const ys = first_element(y, n, incy);
  for (std::int64_t i = 0; i < n; ++i) {
    T sum{};
    for (std::int64_t j = 0; j < n; ++j) {
      const bool stored = uplo == CblasUpper ? i <= j : i >= j;
      sum += (stored ? a[j * lda + i] : a[i * lda + j]) * xs[j * incx];
    }
    T& out = ys[i * incy];
    out = alpha * sum + (beta == T{} ? T{} : beta * out);
  }
}
template <class T>
cublasStatus_t symv(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, std::int64_t n, const T* alpha,
                    const T* a, std::int64_t lda, const T* x, std::int64_t incx, const T* beta, T* y,
                    std::int64_t incy) {
  WG_FITS(lda);
  return symmetric(
      name, handle, uplo, n, at_least(lda, n), count(n, n) / 2, alpha, x, incx, beta, y, incy,
      [=](LibraryRun& run) { return reads_matrix(run, "A", a, n, n, lda); },
      [=](CBLAS_UPLO u, int size, T av, T bv) {
        if constexpr (kIsComplex<T>)
          multiply_symmetric(u, n, av, a, lda, x, incx, bv, y, incy);
        else
          WG_BLAS(T, symv)(CblasColMajor, u, size, av, a, narrow(lda), x, narrow(incx), bv, y, narrow(incy));
      });
}
template <class T>
cublasStatus_t sbmv(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, std::int64_t n, std::int64_t k,
                    const T* alpha, const T* a, std::int64_t lda, const T* x, std::int64_t incx, const T* beta, T* y,
                    std::int64_t incy) {
  WG_FITS(lda, k);
  return symmetric(
      name, handle, uplo, n, k >= 0 && lda >= k + 1, count(n, k + 1), alpha, x, incx, beta, y, incy,
      [=](LibraryRun& run) { return reads_matrix(run, "A", a, k + 1, n, lda); },
      [=](CBLAS_UPLO u, int size, T av, T bv) {
        if constexpr (kIsComplex<T>) WG_BLAS(T, hbmv)
        (CblasColMajor, u, size, narrow(k), by(av), a, narrow(lda), x, narrow(incx), by(bv), y, narrow(incy));
        else WG_BLAS(T, sbmv)(CblasColMajor, u, size, narrow(k), av, a, narrow(lda), x, narrow(incx), bv, y,
                              narrow(incy));
      });
}
template <class T>
cublasStatus_t spmv(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, std::int64_t n, const T* alpha,
                    const T* ap, const T* x, std::int64_t incx, const T* beta, T* y, std::int64_t incy) {
  return symmetric(
      name, handle, uplo, n, true, count(packed(n)), alpha, x, incx, beta, y, incy,
      [=](LibraryRun& run) { return reads_packed(run, ap, n); },
      [=](CBLAS_UPLO u, int size, T av, T bv) {
        if constexpr (kIsComplex<T>)
          WG_BLAS(T, hpmv)(CblasColMajor, u, size, by(av), ap, x, narrow(incx), by(bv), y, narrow(incy));
        else
          WG_BLAS(T, spmv)(CblasColMajor, u, size, av, ap, x, narrow(incx), bv, y, narrow(incy));
      });
}
template <class T>
cublasStatus_t hemv(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, std::int64_t n, const T* alpha,
                    const T* a, std::int64_t lda, const T* x, std::int64_t incx, const T* beta, T* y,
                    std::int64_t incy) {
  WG_FITS(lda);
  return symmetric(
      name, handle, uplo, n, at_least(lda, n), count(n, n) / 2, alpha, x, incx, beta, y, incy,
      [=](LibraryRun& run) { return reads_matrix(run, "A", a, n, n, lda); },
      [=](CBLAS_UPLO u, int size, T av, T bv) {
        WG_BLAS(T, hemv)(CblasColMajor, u, size, by(av), a, narrow(lda), x, narrow(incx), by(bv), y, narrow(incy));
      });
}

// A += alpha x y^T, or with the conjugate of y^T.
template <class T, class Apply>
cublasStatus_t outer(const char* name, cublasHandle_t handle, std::int64_t m, std::int64_t n, const T* alpha,
                     const T* x, std::int64_t incx, const T* y, std::int64_t incy, T* a, std::int64_t lda,
                     Apply apply) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(m >= 0 && n >= 0 && at_least(lda, m) && incx && incy);
  WG_FITS(m, n, lda, incx, incy);
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha);
  const auto al = caller.scalar(alpha);
  return caller.issue(rectangle(m, n), dense_work<T>(2 * count(m, n), 1), [=](LibraryRun& run) {
    T av;
    if (al.get(run, "alpha", av) && reads_vector(run, "x", x, m, incx) && reads_vector(run, "y", y, n, incy) &&
        writes_matrix(run, "A", a, m, n, lda))
      apply(av);
  });
}
#define WG_OUTER(function)                                                                                         \
  template <class T>                                                                                               \
  cublasStatus_t function(const char* name, cublasHandle_t handle, std::int64_t m, std::int64_t n, const T* alpha, \
                          const T* x, std::int64_t incx, const T* y, std::int64_t incy, T* a, std::int64_t lda) {  \
    return outer(name, handle, m, n, alpha, x, incx, y, incy, a, lda, [=](const T& av) {                           \
      WG_BLAS(T, function)                                                                                         \
      (CblasColMajor, narrow(m), narrow(n), by(av), x, narrow(incx), y, narrow(incy), a, narrow(lda));             \
    });                                                                                                            \
  }
WG_OUTER(ger)
WG_OUTER(geru)
WG_OUTER(gerc)
#undef WG_OUTER

// Update of a symmetric or Hermitian matrix by one vector or two. A: type of alpha (real for her).
template <class T, class A, class Writes, class Apply>
cublasStatus_t update(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, std::int64_t n, bool ld_is_right,
                      const A* alpha, const T* x, std::int64_t incx, const T* y, std::int64_t incy, Writes writes,
                      Apply apply) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(is_triangle(uplo) && n >= 0 && ld_is_right && incx && incy);
  WG_FITS(n, incx, incy);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha);
  const auto al = caller.scalar(alpha);
  return caller.issue(square(n), dense_work<T>(count(n, n), 1), [=](LibraryRun& run) {
    A av;
    if (al.get(run, "alpha", av) && reads_vector(run, "x", x, n, incx) && (!y || reads_vector(run, "y", y, n, incy)) &&
        writes(run))
      apply(triangle_of(uplo), narrow(n), av);
  });
}
template <class T>
void add_symmetric(CBLAS_UPLO uplo, std::int64_t n, T alpha, const T* x, std::int64_t incx, const T* y,
                   std::int64_t incy, T* a, std::int64_t lda) {
  const T* const xs = first_element(x, n, incx);
  const T* const ys = y ? first_element(y, n, incy) : nullptr;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = uplo == CblasUpper ? 0 : j; i < (uplo == CblasUpper ? j + 1 : n); ++i)
      a[j * lda + i] += ys ? alpha * (xs[i * incx] * ys[j * incy] + ys[i * incy] * xs[j * incx])
                           : alpha * xs[i * incx] * xs[j * incx];
}
template <class T>
cublasStatus_t syr(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, std::int64_t n, const T* alpha,
                   const T* x, std::int64_t incx, T* a, std::int64_t lda) {
  WG_FITS(lda);
  return update(
      name, handle, uplo, n, at_least(lda, n), alpha, x, incx, static_cast<const T*>(nullptr), 1,
      [=](LibraryRun& run) { return writes_matrix(run, "A", a, n, n, lda); },
      [=](CBLAS_UPLO u, int size, const T& av) {
        if constexpr (kIsComplex<T>)
          add_symmetric(u, n, av, x, incx, static_cast<const T*>(nullptr), 1, a, lda);
        else
          WG_BLAS(T, syr)(CblasColMajor, u, size, av, x, narrow(incx), a, narrow(lda));
      });
}
template <class T>
cublasStatus_t syr2(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, std::int64_t n, const T* alpha,
                    const T* x, std::int64_t incx, const T* y, std::int64_t incy, T* a, std::int64_t lda) {
  WG_FITS(lda);
  return update(
      name, handle, uplo, n, at_least(lda, n), alpha, x, incx, y, incy,
      [=](LibraryRun& run) { return writes_matrix(run, "A", a, n, n, lda); },
      [=](CBLAS_UPLO u, int size, const T& av) {
        if constexpr (kIsComplex<T>)
          add_symmetric(u, n, av, x, incx, y, incy, a, lda);
        else
          WG_BLAS(T, syr2)(CblasColMajor, u, size, av, x, narrow(incx), y, narrow(incy), a, narrow(lda));
      });
}
template <class T>
cublasStatus_t her(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, std::int64_t n, const Real<T>* alpha,
                   const T* x, std::int64_t incx, T* a, std::int64_t lda) {
  WG_FITS(lda);
  return update(
      name, handle, uplo, n, at_least(lda, n), alpha, x, incx, static_cast<const T*>(nullptr), 1,
      [=](LibraryRun& run) { return writes_matrix(run, "A", a, n, n, lda); },
      [=](CBLAS_UPLO u, int size, Real<T> av) {
        WG_BLAS(T, her)(CblasColMajor, u, size, av, x, narrow(incx), a, narrow(lda));
      });
}
template <class T>
cublasStatus_t her2(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, std::int64_t n, const T* alpha,
                    const T* x, std::int64_t incx, const T* y, std::int64_t incy, T* a, std::int64_t lda) {
  WG_FITS(lda);
  return update(
      name, handle, uplo, n, at_least(lda, n), alpha, x, incx, y, incy,
      [=](LibraryRun& run) { return writes_matrix(run, "A", a, n, n, lda); },
      [=](CBLAS_UPLO u, int size, const T& av) {
        WG_BLAS(T, her2)(CblasColMajor, u, size, by(av), x, narrow(incx), y, narrow(incy), a, narrow(lda));
      });
}
#define WG_PACKED_UPDATE(function, A)                                                                     \
  template <class T>                                                                                      \
  cublasStatus_t function(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, std::int64_t n, \
                          const A* alpha, const T* x, std::int64_t incx, T* ap) {                         \
    return update(                                                                                        \
        name, handle, uplo, n, true, alpha, x, incx, static_cast<const T*>(nullptr), 1,                   \
        [=](LibraryRun& run) { return writes_packed(run, ap, n); },                                       \
        [=](CBLAS_UPLO u, int size, A av) {                                                               \
          WG_BLAS(T, function)                                                                            \
          (CblasColMajor, u, size, av, x, narrow(incx), ap);                                              \
        });                                                                                               \
  }
#define WG_PACKED_UPDATE2(function)                                                                              \
  template <class T>                                                                                             \
  cublasStatus_t function(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, std::int64_t n,        \
                          const T* alpha, const T* x, std::int64_t incx, const T* y, std::int64_t incy, T* ap) { \
    return update(                                                                                               \
        name, handle, uplo, n, true, alpha, x, incx, y, incy,                                                    \
        [=](LibraryRun& run) { return writes_packed(run, ap, n); },                                              \
        [=](CBLAS_UPLO u, int size, const T& av) {                                                               \
          WG_BLAS(T, function)(CblasColMajor, u, size, by(av), x, narrow(incx), y, narrow(incy), ap);            \
        });                                                                                                      \
  }
WG_PACKED_UPDATE(spr, T)
WG_PACKED_UPDATE(hpr, Real<T>)
WG_PACKED_UPDATE2(spr2)
WG_PACKED_UPDATE2(hpr2)
#undef WG_PACKED_UPDATE
#undef WG_PACKED_UPDATE2

}  // namespace

}  // namespace warpgrind::libraries::blas

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::blas;

extern "C" {
#define WG_TYPED "libraries/blas/level2_entries.inc"
#include "libraries/blas/both_widths.inc"
#undef WG_TYPED
}
