// cuSOLVER's sparse part: linear systems in CSR form. Each is solved as a dense matrix, of at most kMostRows rows.
#include <cusolverSp.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "libraries/common/handles.h"
#include "libraries/solver/context.h"

struct cusolverSpContext {
  cudaStream_t stream = nullptr;
};
struct csrqrInfo {};

namespace warpgrind::libraries::solver {
namespace {

constexpr int kMostRows = 4096;  // 128 MiB in double precision; QR takes about 9 s on one core

Handles<cusolverSpHandle_t, cusolverSpContext>& sparse_contexts() {
  return handles<cusolverSpHandle_t, cusolverSpContext>();
}
Handles<csrqrInfo_t, csrqrInfo>& all_csrqr() {
  return handles<csrqrInfo_t, csrqrInfo>();
}

template <class T>
struct Csr {
  int rows = 0, columns = 0, nnz = 0;
  const T* values = nullptr;
  const int *offsets = nullptr, *indices = nullptr;
  int base = 0;
  bool on_device = true;
};
template <class T>
bool readable(LibraryRun& run, const Csr<T>& m, std::int64_t count = 1) {
  return !m.on_device || (run.reads("csrVal", m.values, static_cast<std::size_t>(m.nnz * count) * sizeof(T)) &&
                          run.reads("csrRowPtr", m.offsets, (static_cast<std::size_t>(m.rows) + 1) * sizeof(int)) &&
                          run.reads("csrColInd", m.indices, static_cast<std::size_t>(m.nnz) * sizeof(int)));
}
// The matrix by columns. False: an index lies outside.
template <class T>
bool unpack(const Csr<T>& m, const T* values, std::vector<T>& out) {
  out.assign(static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.columns), T{});
  for (int i = 0; i < m.rows; ++i) {
    const int first = m.offsets[i] - m.base, last = m.offsets[i + 1] - m.base;
    if (first < 0 || last < first || last > m.nnz) return false;
    for (int e = first; e < last; ++e) {
      const int j = m.indices[e] - m.base;
      if (j < 0 || j >= m.columns) return false;
      out[static_cast<std::size_t>(std::int64_t{j} * m.rows + i)] += values[e];
    }
  }
  return true;
}

enum class Method { lu, qr, cholesky };
// x = A^-1 b. Returns the first row, from 0, whose pivot is not above the tolerance; -1: none.
template <class T>
int solve(Method method, int n, std::vector<T>& a, const T* b, T* x, Real<T> tolerance) {
  std::vector<T> right(b, b + n);
  const auto at = [&](int k) { return a[static_cast<std::size_t>(std::int64_t{k} * n + k)]; };
  const auto singular_at = [&] {
    for (int k = 0; k < n; ++k)
      if (!(std::abs(at(k)) > std::max(tolerance, Real<T>{}))) return k;
    return -1;
  };
  if (method == Method::lu) {
    std::vector<int> pivots(static_cast<std::size_t>(n) + 1);
    lapack<T>(Routine::getrf, n, n, a.data(), n, pivots.data());
    if (const int k = singular_at(); k >= 0) return k;
    lapack<T>(Routine::getrs, 'N', n, 1, a.data(), n, pivots.data(), right.data(), n);
  } else if (method == Method::cholesky) {
    if (const int info = lapack<T>(Routine::potrf, 'L', n, a.data(), n)) return info - 1;
    if (const int k = singular_at(); k >= 0) return k;
    lapack<T>(Routine::potrs, 'L', n, 1, a.data(), n, right.data(), n);
  } else {
    std::vector<T> tau(static_cast<std::size_t>(n) + 1);
    lapack_with_work<T>(Routine::geqrf, n, n, a.data(), n, tau.data());
    if (const int k = singular_at(); k >= 0) return k;
    lapack_with_work<T>(Routine::ormqr, 'L', kIsComplex<T> ? 'C' : 'T', n, 1, n, a.data(), n, tau.data(), right.data(),
                        n);
    for (int k = n - 1; k >= 0; --k) {
      right[static_cast<std::size_t>(k)] /= at(k);
      for (int i = 0; i < k; ++i)
        right[static_cast<std::size_t>(i)] -=
            a[static_cast<std::size_t>(std::int64_t{k} * n + i)] * right[static_cast<std::size_t>(k)];
    }
  }
  std::copy(right.begin(), right.end(), x);
  return -1;
}

cusolverStatus_t too_large(const char* name, int rows) {
  warpgrind_library_missing(fmt::format("{} with {} rows is not supported (at most {}: it is solved as a dense matrix)",
                                        name, rows, kMostRows)
                                .c_str());
  return CUSOLVER_STATUS_NOT_SUPPORTED;
}
// CUSOLVER_STATUS_SUCCESS, or why this matrix is not accepted.
template <class T>
cusolverStatus_t describe(const char* name, cusparseMatDescr_t description, Csr<T>& m) {
  WG_VALID(m.rows >= 0 && m.columns >= 0 && m.nnz >= 0 && description && m.offsets && (m.nnz == 0 || m.indices));
  if (cusparseGetMatType(description) != CUSPARSE_MATRIX_TYPE_GENERAL) return CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
  m.base = cusparseGetMatIndexBase(description) == CUSPARSE_INDEX_BASE_ONE ? 1 : 0;
  return m.rows > kMostRows || m.columns > kMostRows ? too_large(name, std::max(m.rows, m.columns))
                                                     : CUSOLVER_STATUS_SUCCESS;
}
// `singularity` lies in host memory, so the call waits.
template <class T>
cusolverStatus_t solve_call(Method method, bool on_device, const char* name, cusolverSpHandle_t handle, int n, int nnz,
                            cusparseMatDescr_t description, const T* values, const int* offsets, const int* indices,
                            const T* b, Real<T> tolerance, int reorder, T* x, int* singularity) {
  const auto context = sparse_contexts().find(handle);
  if (!context) return CUSOLVER_STATUS_NOT_INITIALIZED;
  Csr<T> m{n, n, nnz, values, offsets, indices, 0, on_device};
  WG_VALID(reorder >= 0 && reorder <= 3 && singularity && b && x);
  if (const cusolverStatus_t status = describe(name, description, m); status != CUSOLVER_STATUS_SUCCESS) return status;
  return issue_on(context->stream, name, shape(n, n), cubic<T>(n, n, 4.0 / 3), true, [=](LibraryRun& run) {
    if (!readable(run, m) || (on_device && (!reads_vector(run, "b", b, n, 1) || !writes_vector(run, "x", x, n, 1))))
      return;
    std::vector<T> dense;
    if (!unpack(m, m.values, dense)) return run.fail("the CSR matrix has an index outside of it");
    *singularity = solve(method, n, dense, b, x, tolerance);
  });
}

// QR of a batch with one pattern: least squares for rows >= columns.
template <class T>
cusolverStatus_t qr_batch(const char* name, cusolverSpHandle_t handle, int rows, int columns, int nnz,
                          cusparseMatDescr_t description, const T* values, const int* offsets, const int* indices,
                          const T* b, T* x, int count, csrqrInfo_t info, const void* buffer) {
  const auto context = sparse_contexts().find(handle);
  if (!context) return CUSOLVER_STATUS_NOT_INITIALIZED;
  Csr<T> m{rows, columns, nnz, values, offsets, indices, 0, true};
  WG_VALID(all_csrqr().find(info) && rows >= columns && count >= 0 && b && x && values && buffer);
  if (const cusolverStatus_t status = describe(name, description, m); status != CUSOLVER_STATUS_SUCCESS) return status;
  return issue_on(context->stream, name, shape(rows, columns, count), cubic<T>(rows, columns, 4.0 / 3, count), false,
                  [=](LibraryRun& run) {
                    if (!readable(run, m, count) || !reads_vector(run, "b", b, std::int64_t{rows} * count, 1) ||
                        !writes_vector(run, "x", x, std::int64_t{columns} * count, 1))
                      return;
                    std::vector<T> dense;
                    for (std::int64_t i = 0; i < count; ++i) {
                      if (!unpack(m, m.values + i * nnz, dense))
                        return run.fail("the CSR matrix has an index outside of it");
                      std::vector<T> right(b + i * rows, b + (i + 1) * rows);
                      lapack_with_work<T>(Routine::gels, 'N', rows, columns, 1, dense.data(), any_ld(rows),
                                          right.data(), any_ld(rows));
                      std::copy_n(right.begin(), columns, x + i * columns);
                    }
                  });
}

}  // namespace
}  // namespace warpgrind::libraries::solver

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::solver;

extern "C" {

cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t* handle) {
  WG_VALID(handle);
  if (cudaFree(nullptr) != cudaSuccess) return CUSOLVER_STATUS_NOT_INITIALIZED;
  warpgrind_library_begin("cuSOLVER", "OpenBLAS");
  auto made = std::make_shared<cusolverSpContext>();
  *handle = made.get();
  sparse_contexts().add(made.get(), made);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle) {
  return sparse_contexts().remove(handle) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED;
}
cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t stream) {
  const auto context = sparse_contexts().find(handle);
  if (!context) return CUSOLVER_STATUS_NOT_INITIALIZED;
  context->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t* stream) {
  const auto context = sparse_contexts().find(handle);
  return context ? give(stream, context->stream) : CUSOLVER_STATUS_NOT_INITIALIZED;
}
cusolverStatus_t cusolverSpCreateCsrqrInfo(csrqrInfo_t* info) {
  WG_VALID(info);
  auto made = std::make_shared<csrqrInfo>();
  *info = made.get();
  all_csrqr().add(made.get(), made);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverSpDestroyCsrqrInfo(csrqrInfo_t info) {
  return !info || all_csrqr().remove(info) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}
// Nothing to analyse: matrices become dense.
cusolverStatus_t cusolverSpXcsrqrAnalysisBatched(cusolverSpHandle_t handle, int m, int n, int nnz,
                                                 const cusparseMatDescr_t description, const int* offsets,
                                                 const int* indices, csrqrInfo_t info) {
  if (!sparse_contexts().find(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  WG_VALID(n >= 0 && m >= n && nnz >= 0 && description && offsets && (indices || nnz == 0) && all_csrqr().find(info));
  return CUSOLVER_STATUS_SUCCESS;
}

#define WG_CUSOLVER(name) cusolverStatus_t name
#define WG_TYPED "libraries/solver/sparse_entries.inc"
#include "warpgrind/cusolver_types.inc"
#undef WG_TYPED
#undef WG_CUSOLVER

}  // extern "C"
