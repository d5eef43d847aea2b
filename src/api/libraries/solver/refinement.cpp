// Linear systems and least squares "with iterative refinement". The factorisation is made in the precision of the
// matrices, whatever lower precision is asked for, and one step of refinement follows.
#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include "libraries/common/handles.h"
#include "libraries/solver/context.h"

struct cusolverDnIRSParams {
  cusolverIRSRefinement_t refinement = CUSOLVER_IRS_REFINE_NOT_SET;
  cusolverPrecType_t main_precision = static_cast<cusolverPrecType_t>(0), lowest_precision = main_precision;
  double tolerance = 0, inner_tolerance = 0;
  cusolver_int_t iterations = 50, inner_iterations = 50;
  bool fallback = true;
};
struct cusolverDnIRSInfos {
  cusolver_int_t iterations = 0, most_iterations = 0;
  bool wants_residuals = false;
  std::vector<double> residuals;  // room for any precision
};

namespace warpgrind::libraries::solver {
namespace {

using Params = cusolverDnIRSParams;
using Infos = cusolverDnIRSInfos;
Handles<Params*, Params>& all_params() {
  return handles<Params*, Params>();
}
Handles<Infos*, Infos>& all_infos() {
  return handles<Infos*, Infos>();
}
template <class Body>
cusolverStatus_t with_params(Params* handle, Body&& body) {
  const std::shared_ptr<Params> params = all_params().find(handle);
  return params ? body(*params) : CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
}
template <class Body>
cusolverStatus_t with_infos(Infos* handle, Body&& body) {
  const std::shared_ptr<Infos> infos = all_infos().find(handle);
  return infos ? body(*infos) : CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;
}
cusolverStatus_t done() {
  return CUSOLVER_STATUS_SUCCESS;
}
bool is_precision(cusolverPrecType_t p) {
  return (p >= CUSOLVER_R_64F && p <= CUSOLVER_R_AP) || (p >= CUSOLVER_C_64F && p <= CUSOLVER_C_AP);
}
bool is_of_matrices(cusolverPrecType_t p) {
  return p == CUSOLVER_R_64F || p == CUSOLVER_R_32F || p == CUSOLVER_C_64F || p == CUSOLVER_C_32F;
}

// Bytes of a workspace that the program has to bring.
template <class T>
std::int64_t bytes_needed(std::int64_t rows, std::int64_t columns, std::int64_t nrhs) {
  return (rows * columns + rows * nrhs) * static_cast<std::int64_t>(sizeof(T)) + 256;
}
bool valid_systems(int m, int n, int nrhs, int lda, int ldb, int ldx) {
  return n >= 0 && m >= n && nrhs >= 0 && at_least(lda, m) && at_least(ldb, m) && at_least(ldx, n);
}

// r = b - A x, for one right-hand side.
template <class T>
void subtract_product(int m, int n, const T* a, std::int64_t lda, const T* x, T* r) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) r[i] -= column(a, j, lda)[i] * x[j];
}

// A is unchanged, as documented for a refinement that converges.
template <class T>
cusolverStatus_t gesv(const char* name, cusolverDnHandle_t handle, int n, int nrhs, const T* a, int lda, int* pivots,
                      const T* b, int ldb, T* x, int ldx, void* work, std::size_t lwork, int* iterations, int* info) {
  WG_SOLVER_CALL(handle, name);
  WG_VALID(valid_systems(n, n, nrhs, lda, ldb, ldx) && iterations && info);
  if (lwork < static_cast<std::size_t>(bytes_needed<T>(n, n, nrhs))) return CUSOLVER_STATUS_INVALID_WORKSPACE;
  return call.issue(
      shape(n, nrhs), factored<T>(Factorisation::lu, n, n, 2.0 / 3),
      [=](LibraryRun& run) {
        if (!reads_matrix(run, "dA", a, n, n, lda) || !reads_matrix(run, "dB", b, n, nrhs, ldb) ||
            !writes_matrix(run, "dX", x, n, nrhs, ldx) || (pivots && !writes_vector(run, "dipiv", pivots, n, 1)) ||
            !writes_bytes(run, "dWorkspace", work, static_cast<std::int64_t>(lwork)) || !writes_info(run, info))
          return;
        std::vector<T> factors = dense_copy(a, n, n, lda);
        std::vector<int> rows(static_cast<std::size_t>(n) + 1);
        *info = lapack<T>(Routine::getrf, n, n, factors.data(), any_ld(n), rows.data());
        if (pivots) std::copy_n(rows.begin(), n, pivots);
        *iterations = *info ? -1 : 1;
        if (*info) return;
        std::vector<T> residual = dense_copy(b, n, nrhs, ldb);
        copy_matrix(b, ldb, x, ldx, n, nrhs);
        lapack<T>(Routine::getrs, 'N', n, nrhs, factors.data(), any_ld(n), rows.data(), x, ldx);
        for (int j = 0; j < nrhs; ++j)
          subtract_product(n, n, a, lda, column(x, j, ldx), residual.data() + std::int64_t{j} * n);
        lapack<T>(Routine::getrs, 'N', n, nrhs, factors.data(), any_ld(n), rows.data(), residual.data(), any_ld(n));
        for (int j = 0; j < nrhs; ++j)
          for (int i = 0; i < n; ++i)
            column(x, j, ldx)[i] += residual[static_cast<std::size_t>(std::int64_t{j} * n + i)];
      },
      true);
}
template <class T>
cusolverStatus_t gels(const char* name, cusolverDnHandle_t handle, int m, int n, int nrhs, const T* a, int lda,
                      const T* b, int ldb, T* x, int ldx, void* work, std::size_t lwork, int* iterations, int* info) {
  WG_SOLVER_CALL(handle, name);
  if (m < n) return CUSOLVER_STATUS_IRS_PARAMS_INVALID;  // not documented: an H200's answer
  WG_VALID(valid_systems(m, n, nrhs, lda, ldb, ldx) && iterations && info);
  if (lwork < static_cast<std::size_t>(bytes_needed<T>(m, n, nrhs))) return CUSOLVER_STATUS_INVALID_WORKSPACE;
  return call.issue(
      shape(m, n), factored<T>(Factorisation::qr, m, n, 2),
      [=](LibraryRun& run) {
        if (!reads_matrix(run, "dA", a, m, n, lda) || !reads_matrix(run, "dB", b, m, nrhs, ldb) ||
            !writes_matrix(run, "dX", x, n, nrhs, ldx) ||
            !writes_bytes(run, "dWorkspace", work, static_cast<std::int64_t>(lwork)) || !writes_info(run, info))
          return;
        std::vector<T> factors = dense_copy(a, m, n, lda), right = dense_copy(b, m, nrhs, ldb);
        *info = lapack_with_work<T>(Routine::gels, 'N', m, n, nrhs, factors.data(), any_ld(m), right.data(), any_ld(m));
        *iterations = *info ? -1 : 1;
        if (*info == 0) copy_matrix(right.data(), m, x, ldx, n, nrhs);
      },
      true);
}
template <class T>
cusolverStatus_t refined_size(cusolverDnHandle_t handle, int m, int n, int nrhs, bool valid, std::size_t* bytes) {
  if (find(handle) && m < n) return CUSOLVER_STATUS_IRS_PARAMS_INVALID;
  return workspace_size(handle, m >= n && n >= 0 && nrhs >= 0 && valid, bytes, bytes_needed<T>(m, n, nrhs));
}

// Calls body with a zero of the type of the matrices.
template <class Body>
cusolverStatus_t by_precision(const Params& params, Body&& body) {
  if (!is_precision(params.main_precision) || !is_precision(params.lowest_precision))
    return CUSOLVER_STATUS_IRS_PARAMS_INVALID;  // they were not set
  if (!is_of_matrices(params.main_precision)) return CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC;
  if ((params.main_precision >= CUSOLVER_C_8I) != (params.lowest_precision >= CUSOLVER_C_8I))
    return CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC;
  return by_type(params.main_precision == CUSOLVER_R_64F   ? CUDA_R_64F
                 : params.main_precision == CUSOLVER_R_32F ? CUDA_R_32F
                 : params.main_precision == CUSOLVER_C_64F ? CUDA_C_64F
                                                           : CUDA_C_32F,
                 body);
}
// Runs a call whose parameters and report are objects of the program.
template <class Body>
cusolverStatus_t expert(cusolverDnHandle_t handle, Params* params, Infos* infos, int nrhs, const int* iterations,
                        Body&& body) {
  if (!find(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  return with_params(params, [&](Params& p) {
    return with_infos(infos, [&](Infos& i) {
      if (p.refinement == CUSOLVER_IRS_REFINE_NOT_SET) return CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE;
      const cusolverStatus_t status = by_precision(p, body);
      if (status != CUSOLVER_STATUS_SUCCESS) return status;
      i.iterations = *iterations;
      i.most_iterations = p.iterations;
      i.residuals.clear();
      if (i.wants_residuals)
        i.residuals.resize((static_cast<std::size_t>(p.iterations) + 1) * (static_cast<std::size_t>(nrhs) + 1));
      return status;
    });
  });
}

}  // namespace
}  // namespace warpgrind::libraries::solver

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::solver;

extern "C" {

#define WG_REFINED(pair, element)                                                                                      \
  cusolverStatus_t cusolverDn##pair##gesv(cusolverDnHandle_t handle, int n, int nrhs, element* A, int lda, int* ipiv,  \
                                          element* B, int ldb, element* X, int ldx, void* work, size_t bytes,          \
                                          int* iter, int* info) {                                                      \
    return gesv("cusolverDn" #pair "gesv", handle, n, nrhs, number(A), lda, ipiv, number(B), ldb, number(X), ldx,      \
                work, bytes, iter, info);                                                                              \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##pair##gesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs, element*, int lda,    \
                                                     int*, element*, int ldb, element*, int ldx, void*,                \
                                                     size_t* bytes) {                                                  \
    return refined_size<NumberOf<element>::type>(handle, n, n, nrhs, valid_systems(n, n, nrhs, lda, ldb, ldx), bytes); \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##pair##gels(cusolverDnHandle_t handle, int m, int n, int nrhs, element* A, int lda,      \
                                          element* B, int ldb, element* X, int ldx, void* work, size_t bytes,          \
                                          int* iter, int* info) {                                                      \
    return gels("cusolverDn" #pair "gels", handle, m, n, nrhs, number(A), lda, number(B), ldb, number(X), ldx, work,   \
                bytes, iter, info);                                                                                    \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##pair##gels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs, element*,      \
                                                     int lda, element*, int ldb, element*, int ldx, void*,             \
                                                     size_t* bytes) {                                                  \
    return refined_size<NumberOf<element>::type>(handle, m, n, nrhs, valid_systems(m, n, nrhs, lda, ldb, ldx), bytes); \
  }
#include "warpgrind/cusolver_refined.inc"
#undef WG_REFINED

cusolverStatus_t cusolverDnIRSXgesv(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos,
                                    int n, int nrhs, void* A, int lda, void* B, int ldb, void* X, int ldx, void* work,
                                    size_t bytes, int* niters, int* info) {
  return expert(handle, params, infos, nrhs, niters, [&]<class T>(T) {
    return gesv("cusolverDnIRSXgesv", handle, n, nrhs, static_cast<const T*>(A), lda, nullptr, static_cast<const T*>(B),
                ldb, static_cast<T*>(X), ldx, work, bytes, niters, info);
  });
}
cusolverStatus_t cusolverDnIRSXgesv_bufferSize(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, int n, int nrhs,
                                               size_t* bytes) {
  if (!find(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  return with_params(params, [&](Params& p) {
    return by_precision(p, [&]<class T>(T) { return refined_size<T>(handle, n, n, nrhs, true, bytes); });
  });
}
cusolverStatus_t cusolverDnIRSXgels(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos,
                                    int m, int n, int nrhs, void* A, int lda, void* B, int ldb, void* X, int ldx,
                                    void* work, size_t bytes, int* niters, int* info) {
  return expert(handle, params, infos, nrhs, niters, [&]<class T>(T) {
    return gels("cusolverDnIRSXgels", handle, m, n, nrhs, static_cast<const T*>(A), lda, static_cast<const T*>(B), ldb,
                static_cast<T*>(X), ldx, work, bytes, niters, info);
  });
}
cusolverStatus_t cusolverDnIRSXgels_bufferSize(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, int m, int n,
                                               int nrhs, size_t* bytes) {
  if (!find(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  return with_params(params, [&](Params& p) {
    return by_precision(p, [&]<class T>(T) { return refined_size<T>(handle, m, n, nrhs, true, bytes); });
  });
}

cusolverStatus_t cusolverDnIRSParamsCreate(cusolverDnIRSParams_t* out) {
  WG_VALID(out);
  auto made = std::make_shared<Params>();
  *out = made.get();
  all_params().add(made.get(), made);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnIRSParamsDestroy(cusolverDnIRSParams_t params) {
  return all_params().remove(params) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
}
cusolverStatus_t cusolverDnIRSParamsSetRefinementSolver(cusolverDnIRSParams_t params, cusolverIRSRefinement_t solver) {
  return with_params(params, [&](Params& p) {
    if (solver < CUSOLVER_IRS_REFINE_NOT_SET || solver > CUSOLVER_IRS_REFINE_GMRES_NOPCOND)
      return CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE;
    p.refinement = solver;
    return done();
  });
}
cusolverStatus_t cusolverDnIRSParamsSetSolverMainPrecision(cusolverDnIRSParams_t params, cusolverPrecType_t precision) {
  return with_params(params, [&](Params& p) {
    if (!is_precision(precision)) return CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC;
    p.main_precision = precision;
    return done();
  });
}
cusolverStatus_t cusolverDnIRSParamsSetSolverLowestPrecision(cusolverDnIRSParams_t params,
                                                             cusolverPrecType_t precision) {
  return with_params(params, [&](Params& p) {
    if (!is_precision(precision)) return CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC;
    p.lowest_precision = precision;
    return done();
  });
}
cusolverStatus_t cusolverDnIRSParamsSetSolverPrecisions(cusolverDnIRSParams_t params, cusolverPrecType_t main,
                                                        cusolverPrecType_t lowest) {
  const cusolverStatus_t status = cusolverDnIRSParamsSetSolverMainPrecision(params, main);
  return status == CUSOLVER_STATUS_SUCCESS ? cusolverDnIRSParamsSetSolverLowestPrecision(params, lowest) : status;
}
#define WG_SET(Name, type, member)                                                       \
  cusolverStatus_t cusolverDnIRSParams##Name(cusolverDnIRSParams_t params, type value) { \
    return with_params(params, [&](Params& p) {                                          \
      p.member = value;                                                                  \
      return done();                                                                     \
    });                                                                                  \
  }
WG_SET(SetTol, double, tolerance)
WG_SET(SetTolInner, double, inner_tolerance)
#undef WG_SET
cusolverStatus_t cusolverDnIRSParamsSetMaxIters(cusolverDnIRSParams_t params, int most) {
  return with_params(params, [&](Params& p) {
    if (most < 0 || most > 1000000) return CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER;
    p.iterations = most;
    return done();
  });
}
cusolverStatus_t cusolverDnIRSParamsSetMaxItersInner(cusolverDnIRSParams_t params, int most) {
  return with_params(params, [&](Params& p) {
    if (most < 0) return CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER;
    p.inner_iterations = most;
    return done();
  });
}
cusolverStatus_t cusolverDnIRSParamsGetMaxIters(cusolverDnIRSParams_t params, int* most) {
  return with_params(params, [&](Params& p) { return give(most, p.iterations); });
}
cusolverStatus_t cusolverDnIRSParamsEnableFallback(cusolverDnIRSParams_t params) {
  return with_params(params, [&](Params& p) {
    p.fallback = true;
    return done();
  });
}
cusolverStatus_t cusolverDnIRSParamsDisableFallback(cusolverDnIRSParams_t params) {
  return with_params(params, [&](Params& p) {
    p.fallback = false;
    return done();
  });
}

cusolverStatus_t cusolverDnIRSInfosCreate(cusolverDnIRSInfos_t* out) {
  WG_VALID(out);
  auto made = std::make_shared<Infos>();
  *out = made.get();
  all_infos().add(made.get(), made);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnIRSInfosDestroy(cusolverDnIRSInfos_t infos) {
  return all_infos().remove(infos) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;
}
cusolverStatus_t cusolverDnIRSInfosGetNiters(cusolverDnIRSInfos_t infos, int* niters) {
  return with_infos(infos, [&](Infos& i) { return give(niters, i.iterations); });
}
cusolverStatus_t cusolverDnIRSInfosGetOuterNiters(cusolverDnIRSInfos_t infos, int* niters) {
  return with_infos(infos, [&](Infos& i) { return give(niters, i.iterations); });
}
cusolverStatus_t cusolverDnIRSInfosGetMaxIters(cusolverDnIRSInfos_t infos, int* most) {
  return with_infos(infos, [&](Infos& i) { return give(most, i.most_iterations); });
}
cusolverStatus_t cusolverDnIRSInfosRequestResidual(cusolverDnIRSInfos_t infos) {
  return with_infos(infos, [&](Infos& i) {
    i.wants_residuals = true;
    return done();
  });
}
// Zeros: no residual is computed on the way.
cusolverStatus_t cusolverDnIRSInfosGetResidualHistory(cusolverDnIRSInfos_t infos, void** history) {
  return with_infos(infos, [&](Infos& i) {
    WG_VALID(history && i.wants_residuals);
    *history = i.residuals.data();
    return done();
  });
}

}  // extern "C"
