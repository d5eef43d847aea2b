// Eigenvalues and eigenvectors of symmetric and Hermitian matrices, of pairs of them, and of general matrices.
#include <algorithm>
#include <cmath>
#include <vector>

#include "libraries/solver/context.h"

namespace warpgrind::libraries::solver {
namespace {

// ---- Checks of arguments
bool valid_eigen(cusolverEigMode_t jobz, cublasFillMode_t uplo, std::int64_t n, std::int64_t lda) {
  return is_mode(jobz) && is_triangle(uplo) && n >= 0 && at_least(lda, n) && fits(n, lda);
}
bool valid_pair(cusolverEigType_t type, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, int lda, int ldb) {
  return type >= CUSOLVER_EIG_TYPE_1 && type <= CUSOLVER_EIG_TYPE_3 && valid_eigen(jobz, uplo, n, lda) &&
         at_least(ldb, n);
}
template <class R>
bool valid_range(cusolverEigRange_t range, std::int64_t n, R vl, R vu, std::int64_t il, std::int64_t iu) {
  if (range == CUSOLVER_EIG_RANGE_V) return n == 0 || vl < vu;
  if (range == CUSOLVER_EIG_RANGE_I) return n == 0 || (1 <= il && il <= iu && iu <= n);
  return range == CUSOLVER_EIG_RANGE_ALL;
}

// ---- LAPACK
// Adds (work, lwork), for complex matrices (rwork, lrwork), and (iwork, liwork) to the arguments, and calls.
template <class T, class... Args>
int divide_and_conquer(Routine routine, const Args&... args) {
  T best{};
  Real<T> best_real{};
  int best_int = 0;
  int info;
  if constexpr (kIsComplex<T>)
    info = lapack<T>(routine, args..., &best, -1, &best_real, -1, &best_int, -1);
  else
    info = lapack<T>(routine, args..., &best, -1, &best_int, -1);
  if (info) return info;
  std::vector<T> work(static_cast<std::size_t>(workspace_of(best)));
  std::vector<int> integers(static_cast<std::size_t>(std::max(1, best_int)));
  const int lwork = int_of(std::ssize(work)), liwork = int_of(std::ssize(integers));
  if constexpr (kIsComplex<T>) {
    std::vector<Real<T>> reals(static_cast<std::size_t>(workspace_of(best_real)));
    return lapack<T>(routine, args..., work.data(), lwork, reals.data(), int_of(std::ssize(reals)), integers.data(),
                     liwork);
  } else {
    return lapack<T>(routine, args..., work.data(), lwork, integers.data(), liwork);
  }
}
template <class T>
int eigenvalues(cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T* a, int lda, Real<T>* w) {
  return divide_and_conquer<T>(Routine::syevd, letter(jobz), letter(uplo), n, a, lda, w);
}
template <class T>
int eigenvalues_of_pair(cusolverEigType_t type, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T* a, int lda,
                        T* b, int ldb, Real<T>* w) {
  return divide_and_conquer<T>(Routine::sygvd, static_cast<int>(type), letter(jobz), letter(uplo), n, a, lda, b, ldb,
                               w);
}

// ---- A range of eigenvalues
template <class R>
struct Range {
  cusolverEigRange_t kind = CUSOLVER_EIG_RANGE_ALL;
  R vl{}, vu{};
  std::int64_t il = 1, iu = 1;
};
// Moves the chosen ones of all `n` eigenvalues, which are sorted, and their vectors to the front. Returns their number.
template <class T>
int keep(const Range<Real<T>>& range, bool vectors, int n, T* a, std::int64_t lda, Real<T>* w) {
  int first = 0, last = n;
  if (range.kind == CUSOLVER_EIG_RANGE_I && n > 0) {
    first = int_of(range.il) - 1;
    last = int_of(range.iu);
  } else if (range.kind == CUSOLVER_EIG_RANGE_V) {  // the interval (vl, vu]
    first = int_of(std::upper_bound(w, w + n, range.vl) - w);
    last = std::max(first, int_of(std::upper_bound(w, w + n, range.vu) - w));
  }
  std::copy(w + first, w + last, w);
  for (int j = first; vectors && first > 0 && j < last; ++j)
    std::copy_n(column(a, j, lda), n, column(a, std::int64_t{j} - first, lda));
  return last - first;
}

// ---- Residuals for cusolverDnXsyevjGetResidual
// The whole matrix that a triangle represents.
template <class T>
std::vector<T> whole(cublasFillMode_t uplo, int n, const T* a, std::int64_t lda) {
  std::vector<T> out(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      out[static_cast<std::size_t>(std::int64_t{j} * n + i)] =
          (upper ? i <= j : i >= j) ? column(a, j, lda)[i] : conjugate(column(a, i, lda)[j]);
  return out;
}
// Frobenius norm of A V - V diag(w).
template <class T>
double residual(std::vector<T> a, int n, const T* v, int ldv, const Real<T>* w) {
  std::vector<T> product(a.size());
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      product[static_cast<std::size_t>(std::int64_t{j} * n + i)] = column(v, j, ldv)[i] * w[j];
  if (n > 0) WG_BLAS(T, gemm)
  (CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, blas::by(T(1)), a.data(), n, v, ldv, blas::by(T(-1)),
   product.data(), n);
  double sum = 0;
  for (const T& x : product) sum += std::norm(std::complex<double>(std::real(x), std::imag(x)));
  return std::sqrt(sum);
}

// ---- Calls
template <class T>
cusolverStatus_t syevd(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo,
                       std::int64_t n, T* a, std::int64_t lda, Real<T>* w, T* work, std::int64_t lwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(valid_eigen(jobz, uplo, n, lda) && info && lwork >= 0);
  return call.issue(shape(n, n), factored<T>(Factorisation::eigenvalues, real(n), real(n), 9), [=](LibraryRun& run) {
    if (!writes_matrix(run, "A", a, n, n, lda) || !writes_vector(run, "W", w, n, 1) ||
        !writes_work(run, work, room(n, n)) || !writes_info(run, info))
      return;
    *info = eigenvalues(jobz, uplo, int_of(n), a, int_of(lda), w);
  });
}
// Count: int, or std::int64_t for the 64-bit function. It lies in host memory, so the call waits.
template <class T, class Count>
cusolverStatus_t syevdx_call(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                             const Range<Real<T>>& range, cublasFillMode_t uplo, std::int64_t n, T* a, std::int64_t lda,
                             Count* meig, Real<T>* w, T* work, std::int64_t lwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(valid_eigen(jobz, uplo, n, lda) && valid_range(range.kind, n, range.vl, range.vu, range.il, range.iu) &&
           meig && info && lwork >= 0);
  return call.issue(
      shape(n, n), factored<T>(Factorisation::eigenvalues, real(n), real(n), 9),
      [=](LibraryRun& run) {
        if (!writes_matrix(run, "A", a, n, n, lda) || !writes_vector(run, "W", w, n, 1) ||
            !writes_work(run, work, room(n, n)) || !writes_info(run, info))
          return;
        *info = eigenvalues(jobz, uplo, int_of(n), a, int_of(lda), w);
        *meig = *info ? 0 : keep(range, jobz == CUSOLVER_EIG_MODE_VECTOR, int_of(n), a, lda, w);
      },
      true);
}
template <class T>
cusolverStatus_t syevdx(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t jobz, cusolverEigRange_t range,
                        cublasFillMode_t uplo, int n, T* a, int lda, Real<T> vl, Real<T> vu, int il, int iu, int* meig,
                        Real<T>* w, T* work, int lwork, int* info) {
  return syevdx_call(name, handle, jobz, Range<Real<T>>{range, vl, vu, il, iu}, uplo, n, a, lda, meig, w, work, lwork,
                     info);
}

template <class T>
cusolverStatus_t pair_call(const char* name, cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t jobz,
                           const Range<Real<T>>& range, cublasFillMode_t uplo, int n, T* a, int lda, T* b, int ldb,
                           int* meig, Real<T>* w, T* work, int lwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(valid_pair(type, jobz, uplo, n, lda, ldb) &&
           valid_range(range.kind, n, range.vl, range.vu, range.il, range.iu) && info && lwork >= 0);
  return call.issue(
      shape(n, n), factored<T>(Factorisation::eigenvalues, n, n, 14),
      [=](LibraryRun& run) {
        if (!writes_matrix(run, "A", a, n, n, lda) || !writes_matrix(run, "B", b, n, n, ldb) ||
            !writes_vector(run, "W", w, n, 1) || !writes_work(run, work, room(n, n)) || !writes_info(run, info))
          return;
        *info = eigenvalues_of_pair(type, jobz, uplo, n, a, lda, b, ldb, w);
        if (meig) *meig = *info ? 0 : keep(range, jobz == CUSOLVER_EIG_MODE_VECTOR, n, a, lda, w);
      },
      meig != nullptr);
}
template <class T>
cusolverStatus_t sygvd(const char* name, cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t jobz,
                       cublasFillMode_t uplo, int n, T* a, int lda, T* b, int ldb, Real<T>* w, T* work, int lwork,
                       int* info) {
  return pair_call(name, handle, type, jobz, Range<Real<T>>{}, uplo, n, a, lda, b, ldb, nullptr, w, work, lwork, info);
}
template <class T>
cusolverStatus_t sygvdx(const char* name, cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t jobz,
                        cusolverEigRange_t range, cublasFillMode_t uplo, int n, T* a, int lda, T* b, int ldb,
                        Real<T> vl, Real<T> vu, int il, int iu, int* meig, Real<T>* w, T* work, int lwork, int* info) {
  if (find(handle)) WG_VALID(meig);
  return pair_call(name, handle, type, jobz, Range<Real<T>>{range, vl, vu, il, iu}, uplo, n, a, lda, b, ldb, meig, w,
                   work, lwork, info);
}
template <class T>
cusolverStatus_t sygvj(const char* name, cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t jobz,
                       cublasFillMode_t uplo, int n, T* a, int lda, T* b, int ldb, Real<T>* w, T* work, int lwork,
                       int* info, syevjInfo_t params) {
  const std::shared_ptr<syevjInfo> jacobi = find(params);
  if (find(handle)) WG_VALID(jacobi);
  const cusolverStatus_t status =
      pair_call(name, handle, type, jobz, Range<Real<T>>{}, uplo, n, a, lda, b, ldb, nullptr, w, work, lwork, info);
  if (status == CUSOLVER_STATUS_SUCCESS) jacobi->sweeps = 1;
  return status;
}

// Matrices lie one behind the other: lda * n elements apart, their eigenvalues n apart.
template <class T>
cusolverStatus_t jacobi_call(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo,
                             int n, T* a, int lda, Real<T>* w, T* work, std::int64_t lwork, int* info,
                             std::shared_ptr<Jacobi> jacobi, std::int64_t count, bool measures) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(valid_eigen(jobz, uplo, n, lda) && count >= 0 && (info || count == 0) && lwork >= 0);
  if (count == 0) return CUSOLVER_STATUS_SUCCESS;
  return call.issue(
      shape(n, n, count), factored<T>(Factorisation::eigenvalues, n, n, 9, real(count)), [=](LibraryRun& run) {
        if (!writes_matrix(run, "A", a, n, n * count, lda) || !writes_vector(run, "W", w, n * count, 1) ||
            !writes_work(run, work, room(n, n)) || !writes_info(run, info, count))
          return;
        for (std::int64_t i = 0; i < count; ++i) {
          T* const matrix = a + i * lda * n;
          const bool measured = measures && jobz == CUSOLVER_EIG_MODE_VECTOR;
          std::vector<T> before = measured ? whole(uplo, n, matrix, lda) : std::vector<T>{};
          info[i] = eigenvalues(jobz, uplo, n, matrix, lda, w + i * n);
          if (!jacobi) continue;
          jacobi->sweeps = 1;
          jacobi->residual = measured && info[i] == 0 ? residual(std::move(before), n, matrix, lda, w + i * n) : 0;
        }
      });
}
template <class T>
cusolverStatus_t syevj(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo,
                       int n, T* a, int lda, Real<T>* w, T* work, int lwork, int* info, syevjInfo_t params) {
  const std::shared_ptr<syevjInfo> jacobi = find(params);
  if (find(handle)) WG_VALID(jacobi);
  return jacobi_call(name, handle, jobz, uplo, n, a, lda, w, work, lwork, info, jacobi, 1, true);
}
template <class T>
cusolverStatus_t syevjBatched(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                              cublasFillMode_t uplo, int n, T* a, int lda, Real<T>* w, T* work, int lwork, int* info,
                              syevjInfo_t params, int count) {
  const std::shared_ptr<syevjInfo> jacobi = find(params);
  if (find(handle)) WG_VALID(jacobi);
  return jacobi_call(name, handle, jobz, uplo, n, a, lda, w, work, lwork, info, jacobi, count, false);
}

// ---- General matrices
// Eigenvectors of a real matrix: LAPACK stores the real and imaginary part of a pair's first vector in two columns.
template <class R>
void write_vectors(int n, const std::vector<R>& packed, const std::vector<R>& imaginary, std::complex<R>* out,
                   std::int64_t ld) {
  for (int j = 0; j < n; ++j) {
    const R* const first = packed.data() + std::int64_t{j} * n;
    const bool pair = imaginary[static_cast<std::size_t>(j)] != 0 && j + 1 < n;
    for (int i = 0; i < n; ++i) {
      column(out, j, ld)[i] = {first[i], pair ? first[n + i] : R{}};
      if (pair) column(out, j + 1, ld)[i] = {first[i], -first[n + i]};
    }
    if (pair) ++j;
  }
}
template <class R>
int general_real(bool vectors, int n, R* a, int lda, bool complex_w, void* w, bool complex_v, void* v, int ldv) {
  const auto size = static_cast<std::size_t>(std::max(1, n));
  std::vector<R> wr(size), wi(size), packed(vectors ? size * size : 1);
  const int info = lapack_with_work<R>(Routine::geev, 'N', vectors ? 'V' : 'N', n, a, lda, wr.data(), wi.data(),
                                       static_cast<R*>(nullptr), 1, packed.data(), vectors ? any_ld(n) : 1);
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (complex_w) {
      static_cast<std::complex<R>*>(w)[i] = {wr[at], wi[at]};
    } else {
      static_cast<R*>(w)[i] = wr[at];
      static_cast<R*>(w)[n + i] = wi[at];
    }
  }
  if (vectors && complex_v)
    write_vectors(n, packed, wi, static_cast<std::complex<R>*>(v), ldv);
  else if (vectors)
    copy_matrix(packed.data(), n, static_cast<R*>(v), ldv, n, n);
  return info;
}
template <class T>
int general_complex(bool vectors, int n, T* a, int lda, T* w, T* v, int ldv) {
  std::vector<Real<T>> reals(static_cast<std::size_t>(2 * n + 1));
  T best{};
  const auto solve = [&](T* work, int lwork) {
    return lapack<T>(Routine::geev, 'N', vectors ? 'V' : 'N', n, a, lda, w, static_cast<T*>(nullptr), 1, v,
                     vectors ? ldv : 1, work, lwork, reals.data());
  };
  if (const int info = solve(&best, -1)) return info;
  std::vector<T> work(static_cast<std::size_t>(workspace_of(best)));
  return solve(work.data(), int_of(std::ssize(work)));
}

struct GeneralTypes {
  cudaDataType a, w, vl, vr, compute;
};
cudaDataType complex_of(cudaDataType type) {
  return type == CUDA_R_32F ? CUDA_C_32F : type == CUDA_R_64F ? CUDA_C_64F : type;
}
// W is like A or, for a real A, complex; VR is like A or like W.
bool valid_general(cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, std::int64_t n, std::int64_t lda,
                   std::int64_t ldvr, const GeneralTypes& t) {
  const auto fits_a = [&](cudaDataType type) { return type == t.a || type == complex_of(t.a); };
  return is_mode(jobvl) && is_mode(jobvr) && n >= 0 && at_least(lda, n) && fits(n, lda, ldvr) && fits_a(t.w) &&
         fits_a(t.vr) && (t.w != t.a || t.vr == t.a) && t.compute == t.a &&
         (jobvr == CUSOLVER_EIG_MODE_NOVECTOR || at_least(ldvr, n));
}

}  // namespace
}  // namespace warpgrind::libraries::solver

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::solver;

extern "C" {
#define WG_CUSOLVER(name) cusolverStatus_t name
#define WG_TYPED "libraries/solver/eigenvalue_entries.inc"
#include "warpgrind/cusolver_types.inc"
#undef WG_TYPED
#undef WG_CUSOLVER

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                             cudaDataType type, const void*, int64_t, cudaDataType type_w, const void*,
                                             cudaDataType compute, size_t* device, size_t* host) {
  const bool valid =
      valid_params(params) && valid_eigen(jobz, uplo, n, kAnyLd) && compute == type && type_w == real_of(type);
  return workspace_bytes(handle, valid, type, device, host, room(n, n));
}
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int64_t n, cudaDataType type, void* A, int64_t lda,
                                  cudaDataType type_w, void* W, cudaDataType compute, void* work, size_t bytes, void*,
                                  size_t, int* info) {
  WG_VALID(valid_params(params) && compute == type && type_w == real_of(type));
  return by_type(type, [&]<class T>(T) {
    return syevd("cusolverDnXsyevd", handle, jobz, uplo, n, static_cast<T*>(A), lda, static_cast<Real<T>*>(W),
                 static_cast<T*>(work), static_cast<std::int64_t>(bytes / sizeof(T)), info);
  });
}
cusolverStatus_t cusolverDnXsyevdx_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo,
                                              int64_t n, cudaDataType type, const void*, int64_t lda, void*, void*,
                                              int64_t, int64_t, int64_t*, cudaDataType type_w, const void*,
                                              cudaDataType compute, size_t* device, size_t* host) {
  const bool valid = valid_params(params) && valid_eigen(jobz, uplo, n, lda) && compute == type &&
                     type_w == real_of(type) && range >= CUSOLVER_EIG_RANGE_ALL && range <= CUSOLVER_EIG_RANGE_V;
  return workspace_bytes(handle, valid, type, device, host, room(n, n));
}
cusolverStatus_t cusolverDnXsyevdx(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
                                   cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n, cudaDataType type,
                                   void* A, int64_t lda, void* vl, void* vu, int64_t il, int64_t iu, int64_t* meig,
                                   cudaDataType type_w, void* W, cudaDataType compute, void* work, size_t bytes, void*,
                                   size_t, int* info) {
  WG_VALID(valid_params(params) && compute == type && type_w == real_of(type));
  WG_VALID(range != CUSOLVER_EIG_RANGE_V || (vl && vu));
  return by_type(type, [&]<class T>(T) {
    Range<Real<T>> chosen{range, 0, 0, il, iu};
    if (range == CUSOLVER_EIG_RANGE_V) {
      chosen.vl = *static_cast<const Real<T>*>(vl);
      chosen.vu = *static_cast<const Real<T>*>(vu);
    }
    return syevdx_call("cusolverDnXsyevdx", handle, jobz, chosen, uplo, n, static_cast<T*>(A), lda, meig,
                       static_cast<Real<T>*>(W), static_cast<T*>(work), static_cast<std::int64_t>(bytes / sizeof(T)),
                       info);
  });
}
cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                   cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                                   cudaDataType type, const void*, int64_t, cudaDataType type_w,
                                                   const void*, cudaDataType compute, size_t* device, size_t* host,
                                                   int64_t count) {
  const bool valid = valid_params(params) && valid_eigen(jobz, uplo, n, kAnyLd) && compute == type &&
                     type_w == real_of(type) && count >= 0;
  return workspace_bytes(handle, valid, type, device, host, room(n, n));
}
cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
                                        cublasFillMode_t uplo, int64_t n, cudaDataType type, void* A, int64_t lda,
                                        cudaDataType type_w, void* W, cudaDataType compute, void* work, size_t bytes,
                                        void*, size_t, int* info, int64_t count) {
  WG_VALID(valid_params(params) && compute == type && type_w == real_of(type) && fits(n, lda));
  return by_type(type, [&]<class T>(T) {
    return jacobi_call("cusolverDnXsyevBatched", handle, jobz, uplo, int_of(n), static_cast<T*>(A), int_of(lda),
                       static_cast<Real<T>*>(W), static_cast<T*>(work), static_cast<std::int64_t>(bytes / sizeof(T)),
                       info, nullptr, count, false);
  });
}

cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                            cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, int64_t n,
                                            cudaDataType type, const void*, int64_t lda, cudaDataType type_w,
                                            const void*, cudaDataType type_vl, const void*, int64_t,
                                            cudaDataType type_vr, const void*, int64_t ldvr, cudaDataType compute,
                                            size_t* device, size_t* host) {
  const bool valid =
      valid_params(params) && valid_general(jobvl, jobvr, n, lda, ldvr, {type, type_w, type_vl, type_vr, compute});
  if (find(handle) && valid && jobvl == CUSOLVER_EIG_MODE_VECTOR) return CUSOLVER_STATUS_INTERNAL_ERROR;
  return workspace_bytes(handle, valid, type, device, host, room(n, n));
}
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobvl,
                                 cusolverEigMode_t jobvr, int64_t n, cudaDataType type, void* A, int64_t lda,
                                 cudaDataType type_w, void* W, cudaDataType type_vl, void*, int64_t,
                                 cudaDataType type_vr, void* VR, int64_t ldvr, cudaDataType compute, void* work, size_t,
                                 void*, size_t, int* info) {
  WG_SOLVER_CALL(handle, "cusolverDnXgeev");
  WG_VALID(valid_params(params) && info &&
           valid_general(jobvl, jobvr, n, lda, ldvr, {type, type_w, type_vl, type_vr, compute}));
  if (jobvl == CUSOLVER_EIG_MODE_VECTOR) return CUSOLVER_STATUS_INTERNAL_ERROR;  // as NVIDIA's, which has none either
  return by_type(type, [&]<class T>(T) {
    const bool vectors = jobvr == CUSOLVER_EIG_MODE_VECTOR;
    const auto w_bytes = static_cast<std::int64_t>(bytes_of(type_w)) * n * (is_complex(type_w) ? 1 : 2);
    const std::int64_t v_bytes = static_cast<std::int64_t>(bytes_of(type_vr)) * blas::matrix_elements(n, n, ldvr);
    return call.issue(shape(n, n), factored<T>(Factorisation::singular_values, real(n), real(n), 25),
                      [=, a = static_cast<T*>(A)](LibraryRun& run) {
                        if (!writes_matrix(run, "A", a, n, n, lda) || !writes_bytes(run, "W", W, w_bytes) ||
                            (vectors && !writes_bytes(run, "VR", VR, v_bytes)) ||
                            !writes_work(run, static_cast<T*>(work), room(n, n)) || !writes_info(run, info))
                          return;
                        if constexpr (kIsComplex<T>)
                          *info = general_complex(vectors, int_of(n), a, int_of(lda), static_cast<T*>(W),
                                                  static_cast<T*>(VR), int_of(ldvr));
                        else
                          *info = general_real(vectors, int_of(n), a, int_of(lda), is_complex(type_w), W,
                                               is_complex(type_vr), VR, int_of(ldvr));
                      });
  });
}
}
