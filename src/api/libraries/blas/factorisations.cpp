// Batched factorisations of small matrices by LAPACK, and packing and unpacking of triangles.
#include <algorithm>
#include <cmath>
#include <vector>

#include "libraries/blas/context.h"

namespace warpgrind::libraries::blas {
namespace {

std::string batch_of(int m, int n, int count) {
  return fmt::format("{} x {}, {} times", m, n, count);
}
bool reads_addresses(LibraryRun& run, const char* name, const void* array, int count) {
  return run.reads(name, array, static_cast<std::size_t>(count) * sizeof(void*));
}
bool writes_numbers(LibraryRun& run, const char* name, int* at, std::int64_t count) {
  return run.writes(name, at, static_cast<std::size_t>(count) * sizeof(int));
}
bool reads_numbers(LibraryRun& run, const char* name, const int* at, std::int64_t count) {
  return run.reads(name, at, static_cast<std::size_t>(count) * sizeof(int));
}

#define WG_LAPACK(T, name) ((openblas().*Blas<T>::lapack).name)

// LU factorisation without row exchanges, as in cuBLAS if the program passes no pivot array. Returns the position of
// the first zero on the diagonal, counted from 1; 0: none.
template <class T>
int factor_in_place(int n, T* a, std::int64_t lda) {
  int info = 0;
  for (int k = 0; k < n; ++k) {
    const T pivot = a[k * lda + k];
    if (pivot == T{}) {
      if (info == 0) info = k + 1;
      continue;
    }
    for (int i = k + 1; i < n; ++i) a[k * lda + i] /= pivot;
    for (int j = k + 1; j < n; ++j)
      for (int i = k + 1; i < n; ++i) a[j * lda + i] -= a[k * lda + i] * a[j * lda + k];
  }
  return info;
}
template <class T>
int factor(int n, T* a, int lda, int* pivots) {
  if (!pivots) return factor_in_place(n, a, lda);
  int info = 0;
  WG_LAPACK(T, getrf)(&n, &n, a, &lda, pivots, &info);
  return info;
}
// Inverse of A from its LU factors, in place. Of a singular matrix it has infinities and NaN, as on a GPU: CuPy's
// cond() needs them.
template <class T>
int invert(int n, T* a, int lda, const int* pivots) {
  std::vector<int> none;
  if (!pivots) {
    for (int i = 0; i < n; ++i) none.push_back(i + 1);
    pivots = none.data();
  }
  const int room = std::max(1, n * 32);
  std::vector<T> work(static_cast<std::size_t>(room));
  int info = 0;
  WG_LAPACK(T, getri)(&n, a, &lda, pivots, work.data(), &room, &info);
  if (info > 0) {  // LAPACK has left the factors
    std::vector<T> inverse(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < inverse.size(); i += static_cast<std::size_t>(n) + 1) inverse[i] = T(1);
    int ignored = 0;
    WG_LAPACK(T, getrs)("N", &n, &n, a, &lda, pivots, inverse.data(), &n, &ignored, 1);
    for (int j = 0; j < n; ++j) std::copy_n(inverse.data() + std::int64_t{j} * n, n, a + std::int64_t{j} * lda);
  }
  return info;
}

template <class T>
LibraryWork cubic_work(int m, int n, int count, double operations) {
  return product_work<T>(real(m), real(n), real(std::min(m, n)) * operations / 2, real(m) * real(n) * 2, real(count));
}

template <class T>
cublasStatus_t getrfBatched(const char* name, cublasHandle_t handle, int n, T* const* a, int lda, int* pivots,
                            int* info, int count) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(n >= 0 && at_least(lda, n) && count >= 0);
  if (n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(a && info);
  return caller.issue(batch_of(n, n, count), cubic_work<T>(n, n, count, 2.0 / 3), [=](LibraryRun& run) {
    if (!reads_addresses(run, "A", a, count) || !writes_numbers(run, "info", info, count) ||
        (pivots && !writes_numbers(run, "P", pivots, std::int64_t{n} * count)))
      return;
    for (int i = 0; i < count; ++i) {
      if (!writes_matrix(run, "A", a[i], n, n, lda)) return;
      info[i] = factor(n, a[i], lda, pivots ? pivots + std::int64_t{n} * i : nullptr);
    }
  });
}

template <class T>
cublasStatus_t getriBatched(const char* name, cublasHandle_t handle, int n, const T* const* a, int lda,
                            const int* pivots, T* const* c, int ldc, int* info, int count) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(n >= 0 && at_least(lda, n) && at_least(ldc, n) && count >= 0);
  if (n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(a && c && info);
  return caller.issue(batch_of(n, n, count), cubic_work<T>(n, n, count, 4.0 / 3), [=](LibraryRun& run) {
    if (!reads_addresses(run, "A", a, count) || !reads_addresses(run, "C", c, count) ||
        !writes_numbers(run, "info", info, count) ||
        (pivots && !reads_numbers(run, "P", pivots, std::int64_t{n} * count)))
      return;
    for (int i = 0; i < count; ++i) {
      if (!reads_matrix(run, "A", a[i], n, n, lda) || !writes_matrix(run, "C", c[i], n, n, ldc)) return;
      for (int j = 0; j < n; ++j) std::copy_n(a[i] + std::int64_t{j} * lda, n, c[i] + std::int64_t{j} * ldc);
      info[i] = invert(n, c[i], ldc, pivots ? pivots + std::int64_t{n} * i : nullptr);
    }
  });
}

template <class T>
cublasStatus_t matinvBatched(const char* name, cublasHandle_t handle, int n, const T* const* a, int lda, T* const* out,
                             int ldo, int* info, int count) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(n >= 0 && at_least(lda, n) && at_least(ldo, n) && count >= 0);
  constexpr int kMost = 32;
  if (n > kMost) return CUBLAS_STATUS_INVALID_VALUE;
  if (n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(a && out && info);
  return caller.issue(batch_of(n, n, count), cubic_work<T>(n, n, count, 2), [=](LibraryRun& run) {
    if (!reads_addresses(run, "A", a, count) || !reads_addresses(run, "Ainv", out, count) ||
        !writes_numbers(run, "info", info, count))
      return;
    int pivots[kMost];
    for (int i = 0; i < count; ++i) {
      if (!reads_matrix(run, "A", a[i], n, n, lda) || !writes_matrix(run, "Ainv", out[i], n, n, ldo)) return;
      for (int j = 0; j < n; ++j) std::copy_n(a[i] + std::int64_t{j} * lda, n, out[i] + std::int64_t{j} * ldo);
      info[i] = factor(n, out[i], ldo, pivots);
      if (info[i] == 0) info[i] = invert(n, out[i], ldo, pivots);
    }
  });
}

template <class T>
cublasStatus_t getrsBatched(const char* name, cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs,
                            const T* const* a, int lda, const int* pivots, T* const* b, int ldb, int* info, int count) {
  WG_BEGIN_CALL(handle, name);
  if (!info) return CUBLAS_STATUS_INVALID_VALUE;
  // Errors of arguments are reported on the host, by LAPACK's numbers.
  *info = !is_operation(trans) ? -1
          : n < 0              ? -2
          : nrhs < 0           ? -3
          : !at_least(lda, n)  ? -5
          : !at_least(ldb, n)  ? -8
          : count < 0          ? -10
                               : 0;
  WG_REQUIRE(*info == 0);
  if (n == 0 || nrhs == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(a && b);
  return caller.issue(batch_of(n, nrhs, count), cubic_work<T>(n, nrhs, count, 2), [=](LibraryRun& run) {
    if (!reads_addresses(run, "Aarray", a, count) || !reads_addresses(run, "Barray", b, count) ||
        (pivots && !reads_numbers(run, "devIpiv", pivots, std::int64_t{n} * count)))
      return;
    std::vector<int> none;
    for (int i = 0; i < n; ++i) none.push_back(i + 1);
    const char op = trans == CUBLAS_OP_N ? 'N' : trans == CUBLAS_OP_T ? 'T' : 'C';
    for (int i = 0; i < count; ++i) {
      if (!reads_matrix(run, "A", a[i], n, n, lda) || !writes_matrix(run, "B", b[i], n, nrhs, ldb)) return;
      int code = 0;
      WG_LAPACK(T, getrs)
      (&op, &n, &nrhs, a[i], &lda, pivots ? pivots + std::int64_t{n} * i : none.data(), b[i], &ldb, &code, 1);
    }
  });
}

template <class T>
cublasStatus_t geqrfBatched(const char* name, cublasHandle_t handle, int m, int n, T* const* a, int lda, T* const* tau,
                            int* info, int count) {
  WG_BEGIN_CALL(handle, name);
  if (!info) return CUBLAS_STATUS_INVALID_VALUE;
  *info = m < 0 ? -1 : n < 0 ? -2 : !at_least(lda, m) ? -4 : count < 0 ? -7 : 0;
  WG_REQUIRE(*info == 0);
  if (m == 0 || n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(a && tau);
  return caller.issue(batch_of(m, n, count), cubic_work<T>(m, n, count, 4.0 / 3), [=](LibraryRun& run) {
    if (!reads_addresses(run, "Aarray", a, count) || !reads_addresses(run, "TauArray", tau, count)) return;
    const int room = std::max(1, n * 32);
    std::vector<T> work(static_cast<std::size_t>(room));
    for (int i = 0; i < count; ++i) {
      if (!writes_matrix(run, "A", a[i], m, n, lda) || !writes_vector(run, "Tau", tau[i], std::min(m, n), 1)) return;
      int code = 0;
      WG_LAPACK(T, geqrf)(&m, &n, a[i], &lda, tau[i], work.data(), &room, &code);
    }
  });
}

template <class T>
cublasStatus_t gelsBatched(const char* name, cublasHandle_t handle, cublasOperation_t trans, int m, int n, int nrhs,
                           T* const* a, int lda, T* const* c, int ldc, int* info, int* device_info, int count) {
  WG_BEGIN_CALL(handle, name);
  if (!info) return CUBLAS_STATUS_INVALID_VALUE;
  *info = m < 0               ? -2
          : n < 0             ? -3
          : nrhs < 0          ? -4
          : !at_least(lda, m) ? -6
          : !at_least(ldc, m) ? -8
          : count < 0         ? -11
                              : 0;
  WG_REQUIRE(*info == 0);
  if (trans != CUBLAS_OP_N || m < n) return CUBLAS_STATUS_NOT_SUPPORTED;  // "only the non-transposed operation ..."
  if (m == 0 || n == 0 || nrhs == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(a && c);
  return caller.issue(batch_of(m, n, count), cubic_work<T>(m, n, count, 2), [=](LibraryRun& run) {
    if (!reads_addresses(run, "Aarray", a, count) || !reads_addresses(run, "Carray", c, count) ||
        (device_info && !writes_numbers(run, "devInfoArray", device_info, count)))
      return;
    const int room = std::max(1, (n + std::max(n, nrhs)) * 32);
    std::vector<T> work(static_cast<std::size_t>(room));
    for (int i = 0; i < count; ++i) {
      if (!writes_matrix(run, "A", a[i], m, n, lda) || !writes_matrix(run, "C", c[i], m, nrhs, ldc)) return;
      int code = 0;
      const char op = 'N';
      WG_LAPACK(T, gels)(&op, &m, &n, &nrhs, a[i], &lda, c[i], &ldc, work.data(), &room, &code, 1);
      if (device_info) device_info[i] = code;
    }
  });
}

// Calls move(index in the packed triangle, row, column) for each element, column by column.
template <class T, class Move>
void each_of_triangle(cublasFillMode_t uplo, int n, Move move) {
  std::int64_t at = 0;
  for (int j = 0; j < n; ++j)
    for (int i = uplo == CUBLAS_FILL_MODE_UPPER ? 0 : j; i < (uplo == CUBLAS_FILL_MODE_UPPER ? j + 1 : n); ++i)
      move(at++, i, j);
}
template <class T>
cublasStatus_t tpttr(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* ap, T* a,
                     int lda) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(is_triangle(uplo) && n >= 0 && at_least(lda, n));
  return caller.issue(fmt::format("{0} x {0}", n), dense_work<T>(real(n) * real(n)), [=](LibraryRun& run) {
    if (!reads_vector(run, "AP", ap, std::int64_t{n} * (n + 1) / 2, 1) || !writes_matrix(run, "A", a, n, n, lda))
      return;
    each_of_triangle<T>(uplo, n, [&](std::int64_t at, int i, int j) { a[std::int64_t{j} * lda + i] = ap[at]; });
  });
}
template <class T>
cublasStatus_t trttp(const char* name, cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* a, int lda,
                     T* ap) {
  WG_BEGIN_CALL(handle, name);
  WG_REQUIRE(is_triangle(uplo) && n >= 0 && at_least(lda, n));
  return caller.issue(fmt::format("{0} x {0}", n), dense_work<T>(real(n) * real(n)), [=](LibraryRun& run) {
    if (!writes_vector(run, "AP", ap, std::int64_t{n} * (n + 1) / 2, 1) || !reads_matrix(run, "A", a, n, n, lda))
      return;
    each_of_triangle<T>(uplo, n, [&](std::int64_t at, int i, int j) { ap[at] = a[std::int64_t{j} * lda + i]; });
  });
}

}  // namespace

}  // namespace warpgrind::libraries::blas

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::blas;

extern "C" {
#define WG_CUBLAS(name) cublasStatus_t name
#define WG_TYPED "libraries/blas/factorisation_entries.inc"
#include "warpgrind/cublas_types.inc"
#undef WG_TYPED
#undef WG_CUBLAS
}
