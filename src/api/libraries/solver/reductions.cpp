// Reductions to bidiagonal and tridiagonal form, their orthogonal matrices, and triangular factors of block reflectors.
#include <algorithm>

#include "libraries/solver/context.h"

namespace warpgrind::libraries::solver {
namespace {

template <class T>
cusolverStatus_t gebrd(const char* name, cusolverDnHandle_t handle, int m, int n, T* a, int lda, Real<T>* d, Real<T>* e,
                       T* tauq, T* taup, T* work, int lwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(n >= 0 && m >= n && at_least(lda, m) && info && lwork >= 0);
  return call.issue(shape(m, n), factored<T>(Factorisation::qr, m, n, 8.0 / 3), [=](LibraryRun& run) {
    if (!writes_matrix(run, "A", a, m, n, lda) || !writes_vector(run, "D", d, n, 1) ||
        !writes_vector(run, "E", e, n - 1, 1) || !writes_vector(run, "TAUQ", tauq, n, 1) ||
        !writes_vector(run, "TAUP", taup, n, 1) || !writes_work(run, work, room(m, n)) || !writes_info(run, info))
      return;
    *info = lapack_with_work<T>(Routine::gebrd, m, n, a, lda, d, e, tauq, taup);
  });
}

bool valid_orgbr(cublasSideMode_t side, int m, int n, int k, int lda) {
  if (!is_side(side) || m < 0 || n < 0 || k < 0 || !at_least(lda, m)) return false;
  return side == CUBLAS_SIDE_LEFT ? m >= n && n >= std::min(m, k) : n >= m && m >= std::min(n, k);
}
template <class T>
cusolverStatus_t orgbr(const char* name, cusolverDnHandle_t handle, cublasSideMode_t side, int m, int n, int k, T* a,
                       int lda, const T* tau, T* work, int lwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(valid_orgbr(side, m, n, k, lda) && info && lwork >= 0);
  return call.issue(shape(m, n), product_work<T>(m, n, 2.0 * k, 2.0 * m * n), [=](LibraryRun& run) {
    const char of = side == CUBLAS_SIDE_LEFT ? 'Q' : 'P';
    if (!writes_matrix(run, "A", a, m, n, lda) ||
        !reads_vector(run, "tau", tau, std::min(side == CUBLAS_SIDE_LEFT ? m : n, k), 1) ||
        !writes_work(run, work, room(m, n)) || !writes_info(run, info))
      return;
    *info = lapack_with_work<T>(Routine::orgbr, of, m, n, k, a, lda, tau);
  });
}

template <class T>
cusolverStatus_t sytrd(const char* name, cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a, int lda,
                       Real<T>* d, Real<T>* e, T* tau, T* work, int lwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(is_triangle(uplo) && n >= 0 && at_least(lda, n) && info && lwork >= 0);
  return call.issue(shape(n, n), factored<T>(Factorisation::qr, n, n, 4.0 / 3), [=](LibraryRun& run) {
    if (!writes_matrix(run, "A", a, n, n, lda) || !writes_vector(run, "d", d, n, 1) ||
        !writes_vector(run, "e", e, n - 1, 1) || !writes_vector(run, "tau", tau, n - 1, 1) ||
        !writes_work(run, work, room(n, n)) || !writes_info(run, info))
      return;
    *info = lapack_with_work<T>(Routine::sytrd, letter(uplo), n, a, lda, d, e, tau);
  });
}
template <class T>
cusolverStatus_t orgtr(const char* name, cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* a, int lda,
                       const T* tau, T* work, int lwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(is_triangle(uplo) && n >= 0 && at_least(lda, n) && info && lwork >= 0);
  return call.issue(shape(n, n), factored<T>(Factorisation::qr, n, n, 4.0 / 3), [=](LibraryRun& run) {
    if (!writes_matrix(run, "A", a, n, n, lda) || !reads_vector(run, "tau", tau, n - 1, 1) ||
        !writes_work(run, work, room(n, n)) || !writes_info(run, info))
      return;
    *info = lapack_with_work<T>(Routine::orgtr, letter(uplo), n, a, lda, tau);
  });
}
bool valid_ormtr(cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans, int m, int n, int lda,
                 int ldc) {
  return is_side(side) && is_triangle(uplo) && is_plain_operation(trans) && m >= 0 && n >= 0 &&
         at_least(lda, side == CUBLAS_SIDE_LEFT ? m : n) && at_least(ldc, m);
}
template <class T>
cusolverStatus_t ormtr(const char* name, cusolverDnHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                       cublasOperation_t trans, int m, int n, T* a, int lda, T* tau, T* c, int ldc, T* work, int lwork,
                       int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(valid_ormtr(side, uplo, trans, m, n, lda, ldc) && info && lwork >= 0);
  if (kIsComplex<T> && trans == CUBLAS_OP_T) return CUSOLVER_STATUS_INVALID_VALUE;
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  return call.issue(shape(m, n), product_work<T>(m, n, 2.0 * order, 2.0 * m * n), [=](LibraryRun& run) {
    if (!writes_matrix(run, "A", a, order, order, lda) || !reads_vector(run, "tau", tau, order - 1, 1) ||
        !writes_matrix(run, "C", c, m, n, ldc) || !writes_work(run, work, room(m, n)) || !writes_info(run, info))
      return;
    *info =
        lapack_with_work<T>(Routine::ormtr, letter(side), letter(uplo), letter<T>(trans), m, n, a, lda, tau, c, ldc);
  });
}

}  // namespace
}  // namespace warpgrind::libraries::solver

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::solver;

extern "C" {
#define WG_CUSOLVER(name) cusolverStatus_t name
#define WG_TYPED "libraries/solver/reduction_entries.inc"
#include "warpgrind/cusolver_types.inc"
#undef WG_TYPED
#undef WG_CUSOLVER

cusolverStatus_t cusolverDnXlarft_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cusolverDirectMode_t direct, cusolverStorevMode_t storev, int64_t n,
                                             int64_t k, cudaDataType type, const void*, int64_t ldv,
                                             cudaDataType type_tau, const void*, cudaDataType type_t, void*,
                                             int64_t ldt, cudaDataType compute, size_t* device, size_t* host) {
  const bool valid = valid_params(params) && n >= 0 && k >= 0 && k <= n && at_least(ldv, n) && at_least(ldt, k) &&
                     type_tau == type && type_t == type && compute == type;
  if (find(handle) && valid && (direct != CUBLAS_DIRECT_FORWARD || storev != CUBLAS_STOREV_COLUMNWISE))
    return CUSOLVER_STATUS_NOT_SUPPORTED;  // as documented
  return workspace_bytes(handle, valid, type, device, host, room(n, k));
}
cusolverStatus_t cusolverDnXlarft(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverDirectMode_t direct,
                                  cusolverStorevMode_t storev, int64_t n, int64_t k, cudaDataType type, const void* V,
                                  int64_t ldv, cudaDataType type_tau, const void* tau, cudaDataType type_t, void* T_,
                                  int64_t ldt, cudaDataType compute, void* work, size_t, void*, size_t) {
  WG_SOLVER_CALL(handle, "cusolverDnXlarft");
  WG_VALID(valid_params(params) && n >= 0 && k >= 0 && k <= n && at_least(ldv, n) && at_least(ldt, k) &&
           type_tau == type && type_t == type && compute == type && fits(n, ldv, ldt));
  if (direct != CUBLAS_DIRECT_FORWARD || storev != CUBLAS_STOREV_COLUMNWISE) return CUSOLVER_STATUS_NOT_SUPPORTED;
  return by_type(type, [&]<class T>(T) {
    return call.issue(
        shape(n, k), product_work<T>(real(n), real(k), real(k), real(n) * real(k)),
        [=, v = static_cast<const T*>(V), of = static_cast<const T*>(tau), t = static_cast<T*>(T_)](LibraryRun& run) {
          if (!reads_matrix(run, "V", v, n, k, ldv) || !reads_vector(run, "tau", of, k, 1) ||
              !writes_matrix(run, "T", t, k, k, ldt) || !writes_work(run, static_cast<T*>(work), room(n, k)))
            return;
          lapack<T>(Routine::larft, 'F', 'C', int_of(n), int_of(k), v, int_of(ldv), of, t, int_of(ldt));
        });
  });
}
}
