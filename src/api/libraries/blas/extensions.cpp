// Extensions of BLAS for each element type: sums of matrices, scaling by a diagonal, batches.
#include <algorithm>

#include "libraries/blas/multiply.h"

namespace warpgrind::libraries::blas {
namespace {

template <class T>
T element(const T* a, std::int64_t ld, cublasOperation_t op, std::int64_t i, std::int64_t j) {
  const T v = is_transposed(op) ? a[i * ld + j] : a[j * ld + i];
  return op == CUBLAS_OP_C || op == CUBLAS_OP_CONJG ? conjugate(v) : v;
}

// True if C does not alias the operand, or is exactly the operand, which must not be transposed then.
template <class T>
bool in_place_is_right(const T* operand, std::int64_t ld, cublasOperation_t op, const T* c, std::int64_t ldc) {
  return operand != c || (op == CUBLAS_OP_N && ld == ldc);
}

template <class T>
struct Sum {
  cublasOperation_t transa, transb;
  std::int64_t m, n;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T* c;
  std::int64_t ldc;

  // Works in square blocks, so that both plain and transposed matrices use the host's caches.
  void add(T alpha, T beta) const {
    constexpr std::int64_t kSquare = 32;
    for (std::int64_t j0 = 0; j0 < n; j0 += kSquare)
      for (std::int64_t i0 = 0; i0 < m; i0 += kSquare)
        for (std::int64_t j = j0; j < std::min(n, j0 + kSquare); ++j)
          for (std::int64_t i = i0; i < std::min(m, i0 + kSquare); ++i) {
            const T left = alpha == T{} ? T{} : alpha * element(a, lda, transa, i, j);
            const T right = beta == T{} ? T{} : beta * element(b, ldb, transb, i, j);
            c[j * ldc + i] = left + right;
          }
  }
};

template <class T>
cublasStatus_t geam(const char* name, cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                    std::int64_t m, std::int64_t n, const T* alpha, const T* a, std::int64_t lda, const T* beta,
                    const T* b, std::int64_t ldb, T* c, std::int64_t ldc) {
  WG_BEGIN_CALL(handle, name);
  const std::int64_t rows_a = is_transposed(transa) ? n : m, rows_b = is_transposed(transb) ? n : m;
  WG_REQUIRE(is_operation(transa) && is_operation(transb) && m >= 0 && n >= 0 && at_least(ldc, m));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha && beta);
  WG_REQUIRE(at_least(lda, rows_a) && at_least(ldb, rows_b) && in_place_is_right(a, lda, transa, c, ldc) &&
             in_place_is_right(b, ldb, transb, c, ldc));
  const auto al = caller.scalar(alpha), be = caller.scalar(beta);
  return caller.issue(fmt::format("{} x {}", m, n), dense_work<T>(2 * real(m) * real(n)), [=](LibraryRun& run) {
    T av, bv;
    if (!al.get(run, "alpha", av) || !be.get(run, "beta", bv)) return;
    if (av != T{} && !reads_matrix(run, "A", a, rows_a, is_transposed(transa) ? m : n, lda)) return;
    if (bv != T{} && !reads_matrix(run, "B", b, rows_b, is_transposed(transb) ? m : n, ldb)) return;
    if (!writes_matrix(run, "C", c, m, n, ldc)) return;
    Sum<T>{transa, transb, m, n, a, lda, b, ldb, c, ldc}.add(av, bv);
  });
}

template <class T>
cublasStatus_t dgmm(const char* name, cublasHandle_t handle, cublasSideMode_t mode, std::int64_t m, std::int64_t n,
                    const T* a, std::int64_t lda, const T* x, std::int64_t incx, T* c, std::int64_t ldc) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(is_side(mode) && m >= 0 && n >= 0 && at_least(lda, m) && at_least(ldc, m));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  const std::int64_t size = mode == CUBLAS_SIDE_LEFT ? m : n;
  return caller.issue(fmt::format("{} x {}", m, n), dense_work<T>(2 * real(m) * real(n)), [=](LibraryRun& run) {
    if (!reads_matrix(run, "A", a, m, n, lda) || !reads_vector(run, "x", x, size, incx) ||
        !writes_matrix(run, "C", c, m, n, ldc))
      return;
    const T* const first = first_element(x, size, incx);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i)
        c[j * ldc + i] = a[j * lda + i] * first[(mode == CUBLAS_SIDE_LEFT ? i : j) * incx];
  });
}

// Vectors or matrices of a batch: an array of addresses, or equal distances.
template <class T>
struct Batch {
  T* at = nullptr;
  T* const* addresses = nullptr;
  std::int64_t stride = 0;
  T* operator[](std::int64_t i) const { return addresses ? addresses[i] : at + i * stride; }
  bool reads_addresses(LibraryRun& run, const char* name, std::int64_t count) const {
    return !addresses || run.reads(name, addresses, static_cast<std::size_t>(count) * sizeof(void*));
  }
};

template <class T>
cublasStatus_t gemv_batch(const char* name, cublasHandle_t handle, cublasOperation_t trans, std::int64_t m,
                          std::int64_t n, const T* alpha, Batch<const T> a, std::int64_t lda, Batch<const T> x,
                          std::int64_t incx, const T* beta, Batch<T> y, std::int64_t incy, std::int64_t count) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(is_operation(trans) && m >= 0 && n >= 0 && at_least(lda, m) && incx && incy && count >= 0);
  WG_FITS(m, n, lda, incx, incy);
  if (m == 0 || n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha && beta);
  const auto al = caller.scalar(alpha), be = caller.scalar(beta);
  const std::int64_t xs = is_transposed(trans) ? m : n, ys = is_transposed(trans) ? n : m;
  return caller.issue(fmt::format("{} x {}, {} times", m, n, count), dense_work<T>(real(m) * real(n) * real(count)),
                      [=](LibraryRun& run) {
                        T av, bv;
                        if (!al.get(run, "alpha", av) || !be.get(run, "beta", bv) ||
                            !a.reads_addresses(run, "Aarray", count) || !x.reads_addresses(run, "xarray", count) ||
                            !y.reads_addresses(run, "yarray", count))
                          return;
                        for (std::int64_t i = 0; i < count; ++i) {
                          if (!reads_matrix(run, "A", a[i], m, n, lda) || !reads_vector(run, "x", x[i], xs, incx) ||
                              !writes_vector(run, "y", y[i], ys, incy))
                            return;
                          WG_BLAS(T, gemv)
                          (CblasColMajor, operation_of(trans), narrow(m), narrow(n), by(av), a[i], narrow(lda), x[i],
                           narrow(incx), by(bv), y[i], narrow(incy));
                        }
                      });
}
template <class T>
cublasStatus_t gemvBatched(const char* name, cublasHandle_t handle, cublasOperation_t trans, std::int64_t m,
                           std::int64_t n, const T* alpha, const T* const* a, std::int64_t lda, const T* const* x,
                           std::int64_t incx, const T* beta, T* const* y, std::int64_t incy, std::int64_t count) {
  return gemv_batch<T>(name, handle, trans, m, n, alpha, {nullptr, a, 0}, lda, {nullptr, x, 0}, incx, beta,
                       {nullptr, y, 0}, incy, count);
}
template <class T>
cublasStatus_t gemvStridedBatched(const char* name, cublasHandle_t handle, cublasOperation_t trans, std::int64_t m,
                                  std::int64_t n, const T* alpha, const T* a, std::int64_t lda, std::int64_t stride_a,
                                  const T* x, std::int64_t incx, std::int64_t stride_x, const T* beta, T* y,
                                  std::int64_t incy, std::int64_t stride_y, std::int64_t count) {
  return gemv_batch<T>(name, handle, trans, m, n, alpha, {a, nullptr, stride_a}, lda, {x, nullptr, stride_x}, incx,
                       beta, {y, nullptr, stride_y}, incy, count);
}

template <class T>
constexpr cublasComputeType_t kComputeOf = std::is_same_v<Real<T>, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;

template <class T>
cublasStatus_t gemmBatched(const char* name, cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                           std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* const* a,
                           std::int64_t lda, const T* const* b, std::int64_t ldb, const T* beta, T* const* c,
                           std::int64_t ldc, std::int64_t count) {
  constexpr cudaDataType type = kTypeOf<T>;
  WG_REQUIRE(count <= 0 || (a && b && c));
  return multiply(name, handle,
                  {transa,
                   transb,
                   m,
                   n,
                   k,
                   count,
                   {type, nullptr, addresses_of(a), lda, 0},
                   {type, nullptr, addresses_of(b), ldb, 0},
                   {type, nullptr, addresses_of<T>(c), ldc, 0},
                   kComputeOf<T>},
                  alpha, beta);
}
template <class T>
cublasStatus_t gemmStridedBatched(const char* name, cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, std::int64_t m, std::int64_t n, std::int64_t k,
                                  const T* alpha, const T* a, std::int64_t lda, std::int64_t stride_a, const T* b,
                                  std::int64_t ldb, std::int64_t stride_b, const T* beta, T* c, std::int64_t ldc,
                                  std::int64_t stride_c, std::int64_t count) {
  constexpr cudaDataType type = kTypeOf<T>;
  return multiply(name, handle,
                  {transa,
                   transb,
                   m,
                   n,
                   k,
                   count,
                   {type, a, nullptr, lda, stride_a},
                   {type, b, nullptr, ldb, stride_b},
                   {type, c, nullptr, ldc, stride_c},
                   kComputeOf<T>},
                  alpha, beta);
}

template <class T>
cublasStatus_t trsmBatched(const char* name, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                           cublasOperation_t trans, cublasDiagType_t diag, std::int64_t m, std::int64_t n,
                           const T* alpha, const T* const* a, std::int64_t lda, T* const* b, std::int64_t ldb,
                           std::int64_t count) {
  WG_BEGIN_CALL(handle, name);
  const std::int64_t size = side == CUBLAS_SIDE_LEFT ? m : n;
  WG_REQUIRE(is_side(side) && is_triangle(uplo) && is_operation(trans) && is_diagonal(diag) && m >= 0 && n >= 0 &&
             at_least(lda, size) && at_least(ldb, m) && count >= 0);
  WG_FITS(m, n, lda, ldb);
  if (m == 0 || n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(alpha && a && b);
  const auto al = caller.scalar(alpha);
  const Batch<const T> as{nullptr, a, 0};
  const Batch<T> bs{nullptr, b, 0};
  return caller.issue(
      fmt::format("{} x {}, {} times", m, n, count),
      product_work<T>(real(m), real(n), real(size) / 2, real(m) * real(n) * 2, real(count)), [=](LibraryRun& run) {
        T av;
        if (!al.get(run, "alpha", av) || !as.reads_addresses(run, "A", count) || !bs.reads_addresses(run, "B", count))
          return;
        for (std::int64_t i = 0; i < count; ++i) {
          if (!reads_matrix(run, "A", as[i], size, size, lda) || !writes_matrix(run, "B", bs[i], m, n, ldb)) return;
          WG_BLAS(T, trsm)
          (CblasColMajor, side_of(side), triangle_of(uplo), operation_of(trans), diagonal_of(diag), narrow(m),
           narrow(n), by(av), as[i], narrow(lda), bs[i], narrow(ldb));
        }
      });
}

}  // namespace

}  // namespace warpgrind::libraries::blas

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::blas;

extern "C" {
#define WG_TYPED "libraries/blas/extensions_entries.inc"
#include "libraries/blas/both_widths.inc"
#undef WG_TYPED
}
