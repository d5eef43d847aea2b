// Singular values and vectors.
#include <algorithm>
#include <cmath>
#include <vector>

#include "libraries/solver/context.h"

namespace warpgrind::libraries::solver {
namespace {

// ---- LAPACK
// superdiagonal: null, or where the elements that did not converge go (for info > 0).
template <class T>
int decompose(char jobu, char jobvt, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt,
              Real<T>* superdiagonal = nullptr) {
  std::vector<Real<T>> reals(static_cast<std::size_t>(5 * std::min(m, n) + 1));
  const auto solve = [&](T* work, int lwork) {
    if constexpr (kIsComplex<T>)
      return lapack<T>(Routine::gesvd, jobu, jobvt, m, n, a, lda, s, u, any_ld(ldu), vt, any_ld(ldvt), work, lwork,
                       reals.data());
    else
      return lapack<T>(Routine::gesvd, jobu, jobvt, m, n, a, lda, s, u, any_ld(ldu), vt, any_ld(ldvt), work, lwork);
  };
  T best{};
  if (const int info = solve(&best, -1)) return info;
  std::vector<T> work(static_cast<std::size_t>(workspace_of(best)));
  const int info = solve(work.data(), int_of(std::ssize(work)));
  for (int i = 0; superdiagonal && info > 0 && i + 1 < std::min(m, n); ++i)
    superdiagonal[i] =
        kIsComplex<T> ? reals[static_cast<std::size_t>(i)] : std::real(work[static_cast<std::size_t>(i) + 1]);
  return info;
}

// ---- Decompositions that give V, not its conjugate transpose
struct Svd {
  int m = 0, n = 0;
  bool vectors = false;
  int left = 0, right = 0;  // columns of U and V
};
// A is overwritten, as in cuSOLVER.
template <class T>
int decompose_to_v(const Svd& d, T* a, int lda, Real<T>* s, T* u, int ldu, T* v, int ldv) {
  if (!d.vectors) return decompose<T>('N', 'N', d.m, d.n, a, lda, s, nullptr, 1, nullptr, 1);
  const int least = std::min(d.m, d.n);
  const int wide = d.left > least ? d.m : least, high = d.right > least ? d.n : least;
  std::vector<T> left(static_cast<std::size_t>(d.m) * static_cast<std::size_t>(wide) + 1);
  std::vector<T> right(static_cast<std::size_t>(high) * static_cast<std::size_t>(d.n) + 1);
  std::vector<Real<T>> values(static_cast<std::size_t>(least) + 1);
  const int info = decompose(wide > least ? 'A' : 'S', high > least ? 'A' : 'S', d.m, d.n, a, lda, values.data(),
                             left.data(), d.m, right.data(), high);
  std::copy_n(values.data(), std::min({least, std::max(d.left, d.right)}), s);
  copy_matrix(left.data(), d.m, u, ldu, d.m, d.left);
  for (int j = 0; j < d.right; ++j)
    for (int i = 0; i < d.n; ++i)
      column(v, j, ldv)[i] = conjugate(right[static_cast<std::size_t>(std::int64_t{i} * high + j)]);
  return info;
}
// Frobenius norm of A V - U diag(S).
template <class T>
double residual(const std::vector<T>& a, int m, int n, int values, const Real<T>* s, const T* u, int ldu, const T* v,
                int ldv) {
  if (m == 0 || n == 0 || values == 0) return 0;
  std::vector<T> product(static_cast<std::size_t>(m) * static_cast<std::size_t>(values));
  for (int j = 0; j < values; ++j)
    for (int i = 0; i < m; ++i)
      product[static_cast<std::size_t>(std::int64_t{j} * m + i)] = column(u, j, ldu)[i] * s[j];
  WG_BLAS(T, gemm)
  (CblasColMajor, CblasNoTrans, CblasNoTrans, m, values, n, blas::by(T(1)), a.data(), m, v, ldv, blas::by(T(-1)),
   product.data(), m);
  double sum = 0;
  for (const T& x : product) sum += std::norm(std::complex<double>(std::real(x), std::imag(x)));
  return std::sqrt(sum);
}

// ---- gesvd
bool is_job(signed char job) {
  return job == 'A' || job == 'S' || job == 'O' || job == 'N';
}
bool has_vectors(signed char job) {
  return job == 'A' || job == 'S';
}
bool valid_svd(signed char jobu, signed char jobvt, std::int64_t m, std::int64_t n, std::int64_t lda, std::int64_t ldu,
               std::int64_t ldvt) {
  return is_job(jobu) && is_job(jobvt) && !(jobu == 'O' && jobvt == 'O') && n >= 0 && m >= n && at_least(lda, m) &&
         fits(m, n, lda, ldu, ldvt) && (!has_vectors(jobu) || at_least(ldu, m)) &&
         (!has_vectors(jobvt) || at_least(ldvt, n));  // m >= n, as documented
}
template <class T>
cusolverStatus_t gesvd_call(const char* name, cusolverDnHandle_t handle, signed char jobu, signed char jobvt,
                            std::int64_t m, std::int64_t n, T* a, std::int64_t lda, Real<T>* s, T* u, std::int64_t ldu,
                            T* vt, std::int64_t ldvt, T* work, std::int64_t lwork, Real<T>* rwork, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(valid_svd(jobu, jobvt, m, n, lda, ldu, ldvt) && info && lwork >= 0);
  return call.issue(
      shape(m, n), factored<T>(Factorisation::singular_values, real(m), real(n), 20), [=](LibraryRun& run) {
        if (!writes_matrix(run, "A", a, m, n, lda) || !writes_vector(run, "S", s, n, 1) ||
            (has_vectors(jobu) && !writes_matrix(run, "U", u, m, jobu == 'A' ? m : n, ldu)) ||
            (has_vectors(jobvt) && !writes_matrix(run, "VT", vt, n, n, ldvt)) || !writes_work(run, work, room(m, n)) ||
            (rwork && !writes_vector(run, "rwork", rwork, n - 1, 1)) || !writes_info(run, info))
          return;
        *info = decompose(static_cast<char>(jobu), static_cast<char>(jobvt), int_of(m), int_of(n), a, int_of(lda), s, u,
                          int_of(ldu), vt, int_of(ldvt), rwork);
      });
}
template <class T>
cusolverStatus_t gesvd(const char* name, cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m, int n,
                       T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt, T* work, int lwork, Real<T>* rwork,
                       int* info) {
  return gesvd_call(name, handle, jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, rwork, info);
}

// ---- gesvdj
Svd jacobi_shape(cusolverEigMode_t jobz, int econ, int m, int n) {
  const int least = std::min(m, n);
  return {m, n, jobz == CUSOLVER_EIG_MODE_VECTOR, econ ? least : m, econ ? least : n};
}
bool valid_jacobi(cusolverEigMode_t jobz, int econ, std::int64_t m, std::int64_t n, std::int64_t lda, std::int64_t ldu,
                  std::int64_t ldv) {
  return is_mode(jobz) && (econ == 0 || econ == 1) && m >= 0 && n >= 0 && at_least(lda, m) &&
         fits(m, n, lda, ldu, ldv) && (jobz == CUSOLVER_EIG_MODE_NOVECTOR || (at_least(ldu, m) && at_least(ldv, n)));
}
template <class T>
bool writes_vectors(LibraryRun& run, const Svd& d, T* u, int ldu, T* v, int ldv) {
  return !d.vectors || (writes_matrix(run, "U", u, d.m, d.left, ldu) && writes_matrix(run, "V", v, d.n, d.right, ldv));
}
template <class T>
cusolverStatus_t gesvdj(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ, int m, int n,
                        T* a, int lda, Real<T>* s, T* u, int ldu, T* v, int ldv, T* work, int lwork, int* info,
                        gesvdjInfo_t params) {
  WG_SOLVER_CALL(handle, name);
  const std::shared_ptr<gesvdjInfo> jacobi = find(params);
  WG_VALID(valid_jacobi(jobz, econ, m, n, lda, ldu, ldv) && jacobi && info && lwork >= 0);
  const Svd shape_of = jacobi_shape(jobz, econ, m, n);
  return call.issue(shape(m, n), factored<T>(Factorisation::singular_values, m, n, 20), [=](LibraryRun& run) {
    const int least = std::min(m, n);
    if (!writes_matrix(run, "A", a, m, n, lda) || !writes_vector(run, "S", s, least, 1) ||
        !writes_vectors(run, shape_of, u, ldu, v, ldv) || !writes_work(run, work, room(m, n)) ||
        !writes_info(run, info))
      return;
    const std::vector<T> before = dense_copy(a, m, shape_of.vectors ? n : 0, lda);
    *info = decompose_to_v(shape_of, a, lda, s, u, ldu, v, ldv);
    jacobi->sweeps = 1;
    jacobi->residual = shape_of.vectors && *info == 0 ? residual(before, m, n, least, s, u, ldu, v, ldv) : 0;
  });
}
bool valid_jacobi_batch(cusolverEigMode_t jobz, int m, int n, int lda, int ldu, int ldv, int count) {
  return valid_jacobi(jobz, 0, m, n, lda, ldu, ldv) && m <= 32 && n <= 32 && count >= 0;
}
template <class T>
cusolverStatus_t gesvdjBatched(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n, T* a,
                               int lda, Real<T>* s, T* u, int ldu, T* v, int ldv, T* work, int lwork, int* info,
                               gesvdjInfo_t params, int count) {
  WG_SOLVER_CALL(handle, name);
  const std::shared_ptr<gesvdjInfo> jacobi = find(params);
  WG_VALID(valid_jacobi_batch(jobz, m, n, lda, ldu, ldv, count) && jacobi && (info || count == 0) && lwork >= 0);
  if (count == 0) return CUSOLVER_STATUS_SUCCESS;
  const Svd shape_of = jacobi_shape(jobz, 0, m, n);
  return call.issue(
      shape(m, n, count), factored<T>(Factorisation::singular_values, m, n, 20, count), [=](LibraryRun& run) {
        const int least = std::min(m, n);
        if (!writes_matrix(run, "A", a, m, std::int64_t{n} * count, lda) ||
            !writes_vector(run, "S", s, std::int64_t{least} * count, 1) || !writes_work(run, work, room(m, n)) ||
            !writes_info(run, info, count))
          return;
        if (shape_of.vectors && (!writes_matrix(run, "U", u, m, std::int64_t{m} * count, ldu) ||
                                 !writes_matrix(run, "V", v, n, std::int64_t{n} * count, ldv)))
          return;
        jacobi->sweeps = 1;
        for (std::int64_t i = 0; i < count; ++i)
          info[i] =
              decompose_to_v(shape_of, a + i * lda * n, lda, s + i * least, u + i * ldu * m, ldu, v + i * ldv * n, ldv);
      });
}

// ---- gesvda
bool valid_strided(cusolverEigMode_t jobz, int rank, int m, int n, int lda, int ldu, int ldv, long long stride_a,
                   long long stride_s, long long stride_u, long long stride_v, int count) {
  const bool vectors = jobz == CUSOLVER_EIG_MODE_VECTOR;
  return valid_jacobi(jobz, 1, m, n, lda, ldu, ldv) && rank >= 0 && rank <= std::min(m, n) && count >= 0 &&
         stride_a >= 0 && stride_s >= 0 && (!vectors || (stride_u >= 0 && stride_v >= 0));
}
template <class T>
cusolverStatus_t gesvdaStridedBatched(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank,
                                      int m, int n, const T* a, int lda, long long stride_a, Real<T>* s,
                                      long long stride_s, T* u, int ldu, long long stride_u, T* v, int ldv,
                                      long long stride_v, T* work, int lwork, int* info, double* norms, int count) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(valid_strided(jobz, rank, m, n, lda, ldu, ldv, stride_a, stride_s, stride_u, stride_v, count) &&
           (info || count == 0) && lwork >= 0);
  if (count == 0) return CUSOLVER_STATUS_SUCCESS;
  const Svd shape_of{m, n, jobz == CUSOLVER_EIG_MODE_VECTOR, rank, rank};
  return call.issue(
      shape(m, n, count), factored<T>(Factorisation::singular_values, m, n, 20, count),
      [=](LibraryRun& run) {
        if (!writes_work(run, work, room(m, n)) || !writes_info(run, info, count)) return;
        for (std::int64_t i = 0; i < count; ++i) {
          const T* const matrix = a + i * stride_a;
          Real<T>* const values = s + i * stride_s;
          T* const left = u + (shape_of.vectors ? i * stride_u : 0);
          T* const right = v + (shape_of.vectors ? i * stride_v : 0);
          if (!reads_matrix(run, "d_A", matrix, m, n, lda) || !writes_vector(run, "d_S", values, rank, 1) ||
              !writes_vectors(run, shape_of, left, ldu, right, ldv))
            return;
          std::vector<T> copy = dense_copy(matrix, m, n, lda);
          std::vector<Real<T>> all(static_cast<std::size_t>(std::min(m, n)) + 1);
          info[i] = decompose_to_v(shape_of, copy.data(), any_ld(m), all.data(), left, ldu, right, ldv);
          std::copy_n(all.data(), rank, values);
          if (norms)
            norms[i] = shape_of.vectors
                           ? residual(dense_copy(matrix, m, n, lda), m, n, rank, values, left, ldu, right, ldv)
                           : 0;
        }
      },
      norms != nullptr);
}

// ---- 64-bit functions that give V
// values: how many singular values and vectors; -1: those of `econ`. error: null, or where 0 goes in host memory.
struct Wanted {
  cusolverEigMode_t jobz = CUSOLVER_EIG_MODE_VECTOR;
  int econ = 1;
  int values = -1;
  bool left = true, right = true;
};
template <class T>
cusolverStatus_t svd_call(const char* name, cusolverDnHandle_t handle, const Wanted& wanted, std::int64_t m64,
                          std::int64_t n64, T* a, std::int64_t lda, Real<T>* s, T* u, std::int64_t ldu, T* v,
                          std::int64_t ldv, T* work, std::int64_t lwork, int* info, double* error) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(valid_jacobi(wanted.jobz, wanted.econ, m64, n64, lda, wanted.left ? ldu : std::max<std::int64_t>(1, m64),
                        wanted.right ? ldv : std::max<std::int64_t>(1, n64)) &&
           info && lwork >= 0);
  const int m = int_of(m64), n = int_of(n64), least = std::min(m, n);
  Svd of = jacobi_shape(wanted.jobz, wanted.econ, m, n);
  if (wanted.values >= 0) of.left = of.right = wanted.values;
  const int values = wanted.values >= 0 ? wanted.values : least;
  return call.issue(
      shape(m, n), factored<T>(Factorisation::singular_values, m, n, 20),
      [=](LibraryRun& run) {
        if (!writes_matrix(run, "A", a, m, n, lda) || !writes_vector(run, "S", s, values, 1) ||
            (of.vectors && wanted.left && !writes_matrix(run, "U", u, m, of.left, ldu)) ||
            (of.vectors && wanted.right && !writes_matrix(run, "V", v, n, of.right, ldv)) ||
            !writes_work(run, work, room(m64, n64)) || !writes_info(run, info))
          return;
        std::vector<Real<T>> all(static_cast<std::size_t>(least) + 1);
        std::vector<T> left, right;
        if (of.vectors && !wanted.left) left.resize(static_cast<std::size_t>(std::int64_t{m} * of.left + 1));
        if (of.vectors && !wanted.right) right.resize(static_cast<std::size_t>(std::int64_t{n} * of.right + 1));
        *info =
            decompose_to_v(of, a, int_of(lda), all.data(), wanted.left ? u : left.data(), wanted.left ? int_of(ldu) : m,
                           wanted.right ? v : right.data(), wanted.right ? int_of(ldv) : n);
        std::copy_n(all.data(), values, s);
        if (error) *error = 0;
      },
      error != nullptr);
}
struct SvdTypes {
  cudaDataType a, s, u, v, compute;
};
bool valid_types(const SvdTypes& t) {
  return t.u == t.a && t.v == t.a && t.compute == t.a && t.s == real_of(t.a);
}

}  // namespace
}  // namespace warpgrind::libraries::solver

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::solver;

extern "C" {
#define WG_CUSOLVER(name) cusolverStatus_t name
#define WG_TYPED "libraries/solver/singular_value_entries.inc"
#include "warpgrind/cusolver_types.inc"
#undef WG_TYPED
#undef WG_CUSOLVER

cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                             signed char jobvt, int64_t m, int64_t n, cudaDataType type, const void*,
                                             int64_t, cudaDataType type_s, const void*, cudaDataType type_u,
                                             const void*, int64_t, cudaDataType type_vt, const void*, int64_t,
                                             cudaDataType compute, size_t* device, size_t* host) {
  const bool valid = valid_params(params) && valid_svd(jobu, jobvt, m, n, kAnyLd, kAnyLd, kAnyLd) &&
                     valid_types({type, type_s, type_u, type_vt, compute});
  return workspace_bytes(handle, valid, type, device, host, room(m, n));
}
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                  signed char jobvt, int64_t m, int64_t n, cudaDataType type, void* A, int64_t lda,
                                  cudaDataType type_s, void* S, cudaDataType type_u, void* U, int64_t ldu,
                                  cudaDataType type_vt, void* VT, int64_t ldvt, cudaDataType compute, void* work,
                                  size_t bytes, void*, size_t, int* info) {
  WG_VALID(valid_params(params) && valid_types({type, type_s, type_u, type_vt, compute}));
  return by_type(type, [&]<class T>(T) {
    return gesvd_call("cusolverDnXgesvd", handle, jobu, jobvt, m, n, static_cast<T*>(A), lda, static_cast<Real<T>*>(S),
                      static_cast<T*>(U), ldu, static_cast<T*>(VT), ldvt, static_cast<T*>(work),
                      static_cast<std::int64_t>(bytes / sizeof(T)), static_cast<Real<T>*>(nullptr), info);
  });
}
cusolverStatus_t cusolverDnXgesvdp_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cusolverEigMode_t jobz, int econ, int64_t m, int64_t n, cudaDataType type,
                                              const void*, int64_t, cudaDataType type_s, const void*,
                                              cudaDataType type_u, const void*, int64_t, cudaDataType type_v,
                                              const void*, int64_t, cudaDataType compute, size_t* device,
                                              size_t* host) {
  const bool valid = valid_params(params) && valid_jacobi(jobz, econ, m, n, kAnyLd, kAnyLd, kAnyLd) &&
                     valid_types({type, type_s, type_u, type_v, compute});
  return workspace_bytes(handle, valid, type, device, host, room(m, n));
}
cusolverStatus_t cusolverDnXgesvdp(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
                                   int econ, int64_t m, int64_t n, cudaDataType type, void* A, int64_t lda,
                                   cudaDataType type_s, void* S, cudaDataType type_u, void* U, int64_t ldu,
                                   cudaDataType type_v, void* V, int64_t ldv, cudaDataType compute, void* work,
                                   size_t bytes, void*, size_t, int* info, double* error) {
  WG_VALID(valid_params(params) && valid_types({type, type_s, type_u, type_v, compute}));
  return by_type(type, [&]<class T>(T) {
    return svd_call("cusolverDnXgesvdp", handle, {jobz, econ, -1, true, true}, m, n, static_cast<T*>(A), lda,
                    static_cast<Real<T>*>(S), static_cast<T*>(U), ldu, static_cast<T*>(V), ldv, static_cast<T*>(work),
                    static_cast<std::int64_t>(bytes / sizeof(T)), info, error);
  });
}
static bool valid_randomised(signed char jobu, signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p,
                             int64_t iterations) {
  return (jobu == 'S' || jobu == 'N') && (jobv == 'S' || jobv == 'N') && k >= 0 && p >= 0 && iterations >= 0 &&
         k + p <= std::min(m, n);
}
cusolverStatus_t cusolverDnXgesvdr_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                              signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p,
                                              int64_t iterations, cudaDataType type, const void*, int64_t lda,
                                              cudaDataType type_s, const void*, cudaDataType type_u, const void*,
                                              int64_t, cudaDataType type_v, const void*, int64_t, cudaDataType compute,
                                              size_t* device, size_t* host) {
  const bool valid = valid_params(params) && valid_randomised(jobu, jobv, m, n, k, p, iterations) && at_least(lda, m) &&
                     valid_types({type, type_s, type_u, type_v, compute});
  return workspace_bytes(handle, valid, type, device, host, room(m, n));
}
// The first k of all singular values: exact, where NVIDIA's randomised method approximates.
cusolverStatus_t cusolverDnXgesvdr(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                   signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p, int64_t iterations,
                                   cudaDataType type, void* A, int64_t lda, cudaDataType type_s, void* S,
                                   cudaDataType type_u, void* U, int64_t ldu, cudaDataType type_v, void* V, int64_t ldv,
                                   cudaDataType compute, void* work, size_t bytes, void*, size_t, int* info) {
  WG_VALID(valid_params(params) && valid_types({type, type_s, type_u, type_v, compute}) &&
           valid_randomised(jobu, jobv, m, n, k, p, iterations));
  const cusolverEigMode_t jobz = jobu == 'S' || jobv == 'S' ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  return by_type(type, [&]<class T>(T) {
    return svd_call("cusolverDnXgesvdr", handle, {jobz, 1, int_of(k), jobu == 'S', jobv == 'S'}, m, n,
                    static_cast<T*>(A), lda, static_cast<Real<T>*>(S), static_cast<T*>(U), ldu, static_cast<T*>(V), ldv,
                    static_cast<T*>(work), static_cast<std::int64_t>(bytes / sizeof(T)), info, nullptr);
  });
}
}
