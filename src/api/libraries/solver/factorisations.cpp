// LU, Cholesky, QR and LDL^T factorisations, and what is computed from them.
#include <algorithm>
#include <utility>
#include <vector>

#include "libraries/solver/context.h"

namespace warpgrind::libraries::solver {
namespace {

bool reads_pivots(LibraryRun& run, const int* pivots, std::int64_t n) {
  return run.reads("devIpiv", pivots, static_cast<std::size_t>(n) * sizeof(int));
}
bool writes_pivots(LibraryRun& run, int* pivots, std::int64_t n) {
  return writes_bytes(run, "devIpiv", pivots, n * static_cast<std::int64_t>(sizeof(int)));
}
// Pivots of a factorisation without row exchanges, for LAPACK.
std::vector<int> no_exchanges(int n) {
  std::vector<int> out;
  for (int i = 1; i <= n; ++i) out.push_back(i);
  return out;
}

// ---- LU
// LU factorisation without row exchanges: cuSOLVER makes none if the program passes no pivot array. Returns the
// position of the first zero on the diagonal, counted from 1; 0: none.
template <class T>
int factor_without_exchanges(int m, int n, T* a, std::int64_t lda) {
  int info = 0;
  for (int k = 0; k < std::min(m, n); ++k) {
    const T pivot = column(a, k, lda)[k];
    if (pivot == T{}) {
      if (info == 0) info = k + 1;
      continue;
    }
    for (int i = k + 1; i < m; ++i) column(a, k, lda)[i] /= pivot;
    for (int j = k + 1; j < n; ++j)
      for (int i = k + 1; i < m; ++i) column(a, j, lda)[i] -= column(a, k, lda)[i] * column(a, j, lda)[k];
  }
  return info;
}
// Pivot is int, or std::int64_t for the 64-bit functions.
template <class T, class Pivot>
int factor_lu(int m, int n, T* a, int lda, Pivot* pivots) {
  if (!pivots) return factor_without_exchanges(m, n, a, lda);
  std::vector<int> rows(static_cast<std::size_t>(std::max(1, std::min(m, n))));
  const int info = lapack<T>(Routine::getrf, m, n, a, lda, rows.data());
  std::copy_n(rows.begin(), std::min(m, n), pivots);
  return info;
}
// False: a pivot is not a row of the matrix.
template <class Pivot>
bool narrow_pivots(int n, const Pivot* pivots, std::vector<int>& rows) {
  rows = no_exchanges(n);
  for (int i = 0; pivots && i < n; ++i) {
    if (pivots[i] < 1 || pivots[i] > n) return false;
    rows[static_cast<std::size_t>(i)] = static_cast<int>(pivots[i]);
  }
  return true;
}

template <class T, class Pivot>
cusolverStatus_t getrf_call(const char* name, cusolverDnHandle_t handle, std::int64_t m, std::int64_t n, T* a,
                            std::int64_t lda, T* work, std::int64_t lwork, Pivot* pivots, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(m >= 0 && n >= 0 && at_least(lda, m) && fits(m, n, lda) && info && lwork >= 0);
  return call.issue(shape(m, n), factored<T>(Factorisation::lu, real(m), real(n), 2.0 / 3), [=](LibraryRun& run) {
    if (!writes_matrix(run, "A", a, m, n, lda) || !writes_work(run, work, room(m, n)) || !writes_info(run, info) ||
        (pivots && !writes_bytes(run, "devIpiv", pivots, std::min(m, n) * std::int64_t{sizeof(Pivot)})))
      return;
    *info = factor_lu(int_of(m), int_of(n), a, int_of(lda), pivots);
  });
}
template <class T>
cusolverStatus_t getrf(const char* name, cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* work, int* pivots,
                       int* info) {
  return getrf_call(name, handle, m, n, a, lda, work, room(m, n), pivots, info);
}

template <class T, class Pivot>
cusolverStatus_t getrs(const char* name, cusolverDnHandle_t handle, cublasOperation_t trans, std::int64_t n,
                       std::int64_t nrhs, const T* a, std::int64_t lda, const Pivot* pivots, T* b, std::int64_t ldb,
                       int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(is_plain_operation(trans) && n >= 0 && nrhs >= 0 && at_least(lda, n) && at_least(ldb, n) && info &&
           fits(n, nrhs, lda, ldb));
  return call.issue(shape(n, nrhs), product_work<T>(real(n), real(nrhs), real(n), real(n) * real(n + nrhs)),
                    [=](LibraryRun& run) {
                      if (!reads_matrix(run, "A", a, n, n, lda) || !writes_matrix(run, "B", b, n, nrhs, ldb) ||
                          !writes_info(run, info) ||
                          (pivots && !run.reads("devIpiv", pivots, static_cast<std::size_t>(n) * sizeof(Pivot))))
                        return;
                      std::vector<int> rows;
                      if (!narrow_pivots(int_of(n), pivots, rows)) return run.fail("devIpiv is not a row exchange");
                      *info = lapack<T>(Routine::getrs, letter<T>(trans), int_of(n), int_of(nrhs), a, int_of(lda),
                                        rows.data(), b, int_of(ldb));
                    });
}

template <class T>
cusolverStatus_t laswp(const char* name, cusolverDnHandle_t handle, int n, T* a, int lda, int k1, int k2,
                       const int* pivots, int step) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(n >= 0 && lda >= 1 && k1 >= 1 && k2 >= k1 && k2 <= lda && step != 0 && pivots);
  return call.issue(fmt::format("rows {} to {}, n = {}", k1, k2, n), blas::dense_work<T>(4.0 * (k2 - k1 + 1) * n, 0),
                    [=](LibraryRun& run) {
                      const std::int64_t count = k1 + (std::int64_t{k2} - k1) * std::abs(step);
                      if (!writes_matrix(run, "A", a, lda, n, lda) || !reads_pivots(run, pivots, count)) return;
                      for (int i = 0; i <= k2 - k1; ++i) {
                        const int k = step > 0 ? k1 + i : k2 - i;
                        const int row = pivots[k1 - 1 + (std::int64_t{k} - k1) * std::abs(step)];
                        if (row < 1 || row > lda) return run.fail("devIpiv is not a row exchange");
                        for (int j = 0; j < n; ++j) std::swap(column(a, j, lda)[k - 1], column(a, j, lda)[row - 1]);
                      }
                    });
}

// ---- Cholesky
template <class T>
cusolverStatus_t triangle_call(Routine routine, double operations, const char* name, cusolverDnHandle_t handle,
                               cublasFillMode_t uplo, std::int64_t n, T* a, std::int64_t lda, T* work,
                               std::int64_t lwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(is_triangle(uplo) && n >= 0 && at_least(lda, n) && fits(n, lda) && info && lwork >= 0);
  return call.issue(
      shape(n, n), factored<T>(Factorisation::cholesky, real(n), real(n), operations), [=](LibraryRun& run) {
        if (!writes_matrix(run, "A", a, n, n, lda) || !writes_work(run, work, room(n, n)) || !writes_info(run, info))
          return;
        *info = lapack<T>(routine, letter(uplo), int_of(n), a, int_of(lda));
      });
}
#define WG_OF_TRIANGLE(function, operations)                                                                          \
  template <class T>                                                                                                  \
  cusolverStatus_t function(const char* name, cusolverDnHandle_t handle, cublasFillMode_t uplo, std::int64_t n, T* a, \
                            std::int64_t lda, T* work, std::int64_t lwork, int* info) {                               \
    return triangle_call(Routine::function, operations, name, handle, uplo, n, a, lda, work, lwork, info);            \
  }
WG_OF_TRIANGLE(potrf, 1.0 / 3)
WG_OF_TRIANGLE(potri, 2.0 / 3)
WG_OF_TRIANGLE(lauum, 1.0 / 3)
#undef WG_OF_TRIANGLE

template <class T>
cusolverStatus_t potrs(const char* name, cusolverDnHandle_t handle, cublasFillMode_t uplo, std::int64_t n,
                       std::int64_t nrhs, const T* a, std::int64_t lda, T* b, std::int64_t ldb, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(is_triangle(uplo) && n >= 0 && nrhs >= 0 && at_least(lda, n) && at_least(ldb, n) && info &&
           fits(n, nrhs, lda, ldb));
  return call.issue(
      shape(n, nrhs), product_work<T>(real(n), real(nrhs), real(n), real(n) * real(n + nrhs)), [=](LibraryRun& run) {
        if (!reads_matrix(run, "A", a, n, n, lda) || !writes_matrix(run, "B", b, n, nrhs, ldb) ||
            !writes_info(run, info))
          return;
        *info = lapack<T>(Routine::potrs, letter(uplo), int_of(n), int_of(nrhs), a, int_of(lda), b, int_of(ldb));
      });
}
bool reads_addresses(LibraryRun& run, const char* name, const void* array, int count) {
  return run.reads(name, array, static_cast<std::size_t>(count) * sizeof(void*));
}
template <class T>
cusolverStatus_t potrfBatched(const char* name, cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* const* a,
                              int lda, int* info, int count) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(is_triangle(uplo) && n >= 0 && at_least(lda, n) && count >= 0 && (count == 0 || (a && info)));
  if (count == 0) return CUSOLVER_STATUS_SUCCESS;
  return call.issue(shape(n, n, count), factored<T>(Factorisation::cholesky, n, n, 1.0 / 3, count),
                    [=](LibraryRun& run) {
                      if (!reads_addresses(run, "Aarray", a, count) || !writes_info(run, info, count)) return;
                      for (int i = 0; i < count; ++i) {
                        if (!writes_matrix(run, "A", a[i], n, n, lda)) return;
                        info[i] = lapack<T>(Routine::potrf, letter(uplo), n, a[i], lda);
                      }
                    });
}
template <class T>
cusolverStatus_t potrsBatched(const char* name, cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                              T* const* a, int lda, T* const* b, int ldb, int* info, int count) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(is_triangle(uplo) && n >= 0 && nrhs >= 0 && at_least(lda, n) && at_least(ldb, n) && count >= 0 &&
           (count == 0 || (a && b && info)) && nrhs <= 1);  // as documented
  if (count == 0) return CUSOLVER_STATUS_SUCCESS;
  return call.issue(
      shape(n, nrhs, count), product_work<T>(n, nrhs, n, real(n) * (n + nrhs), count), [=](LibraryRun& run) {
        if (!reads_addresses(run, "A", a, count) || !reads_addresses(run, "B", b, count) || !writes_info(run, info))
          return;
        *info = 0;
        for (int i = 0; i < count; ++i) {
          if (!reads_matrix(run, "A", a[i], n, n, lda) || !writes_matrix(run, "B", b[i], n, nrhs, ldb)) return;
          lapack<T>(Routine::potrs, letter(uplo), n, nrhs, a[i], lda, b[i], ldb);
        }
      });
}

// ---- QR
template <class T>
cusolverStatus_t geqrf(const char* name, cusolverDnHandle_t handle, std::int64_t m, std::int64_t n, T* a,
                       std::int64_t lda, T* tau, T* work, std::int64_t lwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(m >= 0 && n >= 0 && at_least(lda, m) && fits(m, n, lda) && info && lwork >= 0);
  return call.issue(shape(m, n), factored<T>(Factorisation::qr, real(m), real(n), 4.0 / 3), [=](LibraryRun& run) {
    if (!writes_matrix(run, "A", a, m, n, lda) || !writes_vector(run, "TAU", tau, std::min(m, n), 1) ||
        !writes_work(run, work, room(m, n)) || !writes_info(run, info))
      return;
    *info = lapack_with_work<T>(Routine::geqrf, int_of(m), int_of(n), a, int_of(lda), tau);
  });
}
bool valid_orgqr(int m, int n, int k, int lda) {
  return n >= 0 && m >= n && k >= 0 && k <= n && at_least(lda, m);
}
template <class T>
cusolverStatus_t orgqr(const char* name, cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda, const T* tau,
                       T* work, int lwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(valid_orgqr(m, n, k, lda) && info && lwork >= 0);
  return call.issue(shape(m, n), product_work<T>(m, n, 2.0 * k, 2.0 * m * n), [=](LibraryRun& run) {
    if (!writes_matrix(run, "A", a, m, n, lda) || !reads_vector(run, "tau", tau, k, 1) ||
        !writes_work(run, work, room(m, n)) || !writes_info(run, info))
      return;
    *info = lapack_with_work<T>(Routine::orgqr, m, n, k, a, lda, tau);
  });
}
bool valid_ormqr(cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k, int lda, int ldc) {
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  return is_side(side) && is_plain_operation(trans) && m >= 0 && n >= 0 && k >= 0 && k <= order &&
         at_least(lda, order) && at_least(ldc, m);
}
template <class T>
cusolverStatus_t ormqr(const char* name, cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans,
                       int m, int n, int k, const T* a, int lda, const T* tau, T* c, int ldc, T* work, int lwork,
                       int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(valid_ormqr(side, trans, m, n, k, lda, ldc) && info && lwork >= 0);
  if (kIsComplex<T> && trans == CUBLAS_OP_T) return CUSOLVER_STATUS_INVALID_VALUE;
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  return call.issue(shape(m, n), product_work<T>(m, n, 2.0 * k, 2.0 * m * n), [=](LibraryRun& run) {
    if (!reads_matrix(run, "A", a, order, k, lda) || !reads_vector(run, "tau", tau, k, 1) ||
        !writes_matrix(run, "C", c, m, n, ldc) || !writes_work(run, work, room(m, n)) || !writes_info(run, info))
      return;
    *info = lapack_with_work<T>(Routine::ormqr, letter(side), letter<T>(trans), m, n, k, a, lda, tau, c, ldc);
  });
}

// ---- LDL^T of a symmetric matrix (not Hermitian)
// Without row exchanges, as cuSOLVER if the program passes no pivot array. The other triangle is not accessed.
template <class T>
int factor_symmetric(cublasFillMode_t uplo, int n, T* a, std::int64_t lda) {
  int info = 0;
  const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
  for (int step = 0; step < n; ++step) {
    const int k = upper ? n - 1 - step : step;
    T* const of = column(a, k, lda);
    const T pivot = of[k];
    if (pivot == T{}) {
      if (info == 0) info = k + 1;
      continue;
    }
    const int first = upper ? 0 : k + 1, last = upper ? k : n;
    for (int j = first; j < last; ++j)
      for (int i = upper ? first : j; i < (upper ? j + 1 : last); ++i) column(a, j, lda)[i] -= of[i] * of[j] / pivot;
    for (int i = first; i < last; ++i) of[i] /= pivot;
  }
  return info;
}
template <class T>
cusolverStatus_t sytrf(const char* name, cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a, int lda,
                       int* pivots, T* work, int lwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(is_triangle(uplo) && n >= 0 && at_least(lda, n) && info && lwork >= 0);
  return call.issue(shape(n, n), factored<T>(Factorisation::lu, n, n, 1.0 / 3), [=](LibraryRun& run) {
    if (!writes_matrix(run, "A", a, n, n, lda) || !writes_work(run, work, room(n, n)) || !writes_info(run, info) ||
        (pivots && !writes_pivots(run, pivots, n)))
      return;
    *info = pivots ? lapack_with_work<T>(Routine::sytrf, letter(uplo), n, a, lda, pivots)
                   : factor_symmetric(uplo, n, a, lda);
  });
}
// Pivots of sytrf for LAPACK: rows from 1, negative for blocks of two. False: there is no such row.
template <class Pivot>
bool narrow_symmetric_pivots(int n, const Pivot* pivots, std::vector<int>& rows) {
  rows = no_exchanges(n);
  for (int i = 0; pivots && i < n; ++i) {
    if (pivots[i] == 0 || pivots[i] > n || pivots[i] < -n) return false;
    rows[static_cast<std::size_t>(i)] = static_cast<int>(pivots[i]);
  }
  return true;
}
template <class T>
cusolverStatus_t sytri(const char* name, cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a, int lda,
                       const int* pivots, T* work, int lwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(is_triangle(uplo) && n >= 0 && at_least(lda, n) && info && lwork >= 0);
  return call.issue(shape(n, n), factored<T>(Factorisation::cholesky, n, n, 2.0 / 3), [=](LibraryRun& run) {
    if (!writes_matrix(run, "A", a, n, n, lda) || !writes_work(run, work, room(n, n)) || !writes_info(run, info) ||
        (pivots && !reads_pivots(run, pivots, n)))
      return;
    std::vector<int> rows;
    if (!narrow_symmetric_pivots(n, pivots, rows)) return run.fail("ipiv is not what sytrf writes");
    std::vector<T> room_of_lapack(static_cast<std::size_t>(2 * n + 1));
    *info = lapack<T>(Routine::sytri, letter(uplo), n, a, lda, rows.data(), room_of_lapack.data());
  });
}

}  // namespace

}  // namespace warpgrind::libraries::solver

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::solver;

extern "C" {
#define WG_CUSOLVER(name) cusolverStatus_t name
#define WG_TYPED "libraries/solver/factorisation_entries.inc"
#include "warpgrind/cusolver_types.inc"
#undef WG_TYPED
#undef WG_CUSOLVER

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                             cudaDataType type, const void*, int64_t, cudaDataType compute,
                                             size_t* device, size_t* host) {
  const bool valid = valid_params(params) && m >= 0 && n >= 0 && compute == type;
  return workspace_bytes(handle, valid, type, device, host, room(m, n));
}
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                  cudaDataType type, void* A, int64_t lda, int64_t* ipiv, cudaDataType compute,
                                  void* work, size_t bytes, void*, size_t, int* info) {
  WG_VALID(valid_params(params) && compute == type);
  return by_type(type, [&]<class T>(T) {
    return getrf_call("cusolverDnXgetrf", handle, m, n, static_cast<T*>(A), lda, static_cast<T*>(work),
                      static_cast<std::int64_t>(bytes / sizeof(T)), ipiv, info);
  });
}
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasOperation_t trans,
                                  int64_t n, int64_t nrhs, cudaDataType type, const void* A, int64_t lda,
                                  const int64_t* ipiv, cudaDataType type_b, void* B, int64_t ldb, int* info) {
  WG_VALID(valid_params(params) && type_b == type);
  return by_type(type, [&]<class T>(T) {
    return getrs("cusolverDnXgetrs", handle, trans, n, nrhs, static_cast<const T*>(A), lda, ipiv, static_cast<T*>(B),
                 ldb, info);
  });
}
cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cublasFillMode_t uplo, int64_t n, cudaDataType type, const void*, int64_t,
                                             cudaDataType compute, size_t* device, size_t* host) {
  const bool valid = valid_params(params) && is_triangle(uplo) && n >= 0 && compute == type;
  return workspace_bytes(handle, valid, type, device, host, room(n, n));
}
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo,
                                  int64_t n, cudaDataType type, void* A, int64_t lda, cudaDataType compute, void* work,
                                  size_t bytes, void*, size_t, int* info) {
  WG_VALID(valid_params(params) && compute == type);
  return by_type(type, [&]<class T>(T) {
    return potrf("cusolverDnXpotrf", handle, uplo, n, static_cast<T*>(A), lda, static_cast<T*>(work),
                 static_cast<std::int64_t>(bytes / sizeof(T)), info);
  });
}
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo,
                                  int64_t n, int64_t nrhs, cudaDataType type, const void* A, int64_t lda,
                                  cudaDataType type_b, void* B, int64_t ldb, int* info) {
  WG_VALID(valid_params(params) && type_b == type);
  return by_type(type, [&]<class T>(T) {
    return potrs("cusolverDnXpotrs", handle, uplo, n, nrhs, static_cast<const T*>(A), lda, static_cast<T*>(B), ldb,
                 info);
  });
}
cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                             cudaDataType type, const void*, int64_t, cudaDataType type_tau,
                                             const void*, cudaDataType compute, size_t* device, size_t* host) {
  const bool valid = valid_params(params) && m >= 0 && n >= 0 && compute == type && type_tau == type;
  return workspace_bytes(handle, valid, type, device, host, room(m, n));
}
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                  cudaDataType type, void* A, int64_t lda, cudaDataType type_tau, void* tau,
                                  cudaDataType compute, void* work, size_t bytes, void*, size_t, int* info) {
  WG_VALID(valid_params(params) && compute == type && type_tau == type);
  return by_type(type, [&]<class T>(T) {
    return geqrf("cusolverDnXgeqrf", handle, m, n, static_cast<T*>(A), lda, static_cast<T*>(tau), static_cast<T*>(work),
                 static_cast<std::int64_t>(bytes / sizeof(T)), info);
  });
}
cusolverStatus_t cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag,
                                             int64_t n, cudaDataType type, void*, int64_t, size_t* device,
                                             size_t* host) {
  const bool valid = is_triangle(uplo) && is_diagonal(diag) && n >= 0;
  return workspace_bytes(handle, valid, type, device, host, room(n, n));
}
cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n,
                                  cudaDataType type, void* A, int64_t lda, void* work, size_t, void*, size_t,
                                  int* info) {
  WG_SOLVER_CALL(handle, "cusolverDnXtrtri");
  WG_VALID(is_triangle(uplo) && is_diagonal(diag) && n >= 0 && at_least(lda, n) && fits(n, lda) && info);
  return by_type(type, [&]<class T>(T) {
    return call.issue(shape(n, n), factored<T>(Factorisation::cholesky, real(n), real(n), 1.0 / 3),
                      [=, a = static_cast<T*>(A)](LibraryRun& run) {
                        if (!writes_matrix(run, "A", a, n, n, lda) ||
                            !writes_work(run, static_cast<T*>(work), room(n, n)) || !writes_info(run, info))
                          return;
                        *info = lapack<T>(Routine::trtri, letter(uplo), diag == CUBLAS_DIAG_UNIT ? 'U' : 'N', int_of(n),
                                          a, int_of(lda));
                      });
  });
}
cusolverStatus_t cusolverDnXsytrs_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t nrhs,
                                             cudaDataType type, const void*, int64_t lda, const int64_t*,
                                             cudaDataType type_b, void*, int64_t ldb, size_t* device, size_t* host) {
  const bool valid = is_triangle(uplo) && n >= 0 && nrhs >= 0 && at_least(lda, n) && at_least(ldb, n) && type_b == type;
  return workspace_bytes(handle, valid, type, device, host, room(n, nrhs));
}
cusolverStatus_t cusolverDnXsytrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t nrhs,
                                  cudaDataType type, const void* A, int64_t lda, const int64_t* ipiv,
                                  cudaDataType type_b, void* B, int64_t ldb, void* work, size_t, void*, size_t,
                                  int* info) {
  WG_SOLVER_CALL(handle, "cusolverDnXsytrs");
  WG_VALID(is_triangle(uplo) && n >= 0 && nrhs >= 0 && at_least(lda, n) && at_least(ldb, n) && type_b == type &&
           fits(n, nrhs, lda, ldb) && info);
  return by_type(type, [&]<class T>(T) {
    return call.issue(shape(n, nrhs), product_work<T>(real(n), real(nrhs), real(n), real(n) * real(n + nrhs)),
                      [=, a = static_cast<const T*>(A), b = static_cast<T*>(B)](LibraryRun& run) {
                        if (!reads_matrix(run, "A", a, n, n, lda) || !writes_matrix(run, "B", b, n, nrhs, ldb) ||
                            !writes_work(run, static_cast<T*>(work), room(n, nrhs)) || !writes_info(run, info) ||
                            (ipiv && !run.reads("ipiv", ipiv, static_cast<std::size_t>(n) * sizeof *ipiv)))
                          return;
                        std::vector<int> rows;
                        if (!narrow_symmetric_pivots(int_of(n), ipiv, rows))
                          return run.fail("ipiv is not what sytrf writes");
                        *info = lapack<T>(Routine::sytrs, letter(uplo), int_of(n), int_of(nrhs), a, int_of(lda),
                                          rows.data(), b, int_of(ldb));
                      });
  });
}
}
