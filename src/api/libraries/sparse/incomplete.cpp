// Incomplete factorisations with the pattern of the matrix, in place: LU (csrilu02) and Cholesky (csric02).
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "libraries/common/handles.h"
#include "libraries/sparse/matrices.h"

namespace warpgrind::libraries::sparse {
namespace {

// Result of a factorisation: the row, counted from 0, of the first pivot that is missing or 0; -1: none.
struct Outcome {
  std::int64_t zero_pivot = -1;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  void found(std::int64_t row) {
    if (zero_pivot < 0 || row < zero_pivot) zero_pivot = row;
  }
};
// Replacement of pivots whose absolute value is at most `tolerance`.
struct Boost {
  double tolerance = 0;
  DoubleComplex value;
};

}  // namespace
}  // namespace warpgrind::libraries::sparse

struct csrilu02Info {
  std::shared_ptr<warpgrind::libraries::sparse::Outcome> outcome =
      std::make_shared<warpgrind::libraries::sparse::Outcome>();
  std::optional<warpgrind::libraries::sparse::Boost> boost;
};
struct csric02Info : csrilu02Info {};

namespace warpgrind::libraries::sparse {
namespace {

// A matrix with sorted columns in each row, and the element index of each row's diagonal (-1: missing).
template <class D>
struct Factors {
  Sparse<D> a;
  std::vector<std::int64_t> diagonal;

  std::size_t begin(std::int64_t row) const { return static_cast<std::size_t>(a.begin[static_cast<std::size_t>(row)]); }
  std::size_t end(std::int64_t row) const { return begin(row + 1); }
  void find_diagonal(Outcome& outcome) {
    diagonal.assign(static_cast<std::size_t>(a.rows), -1);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::size_t e = begin(i); e < end(i); ++e)
        if (a.column[e] == i) diagonal[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(e);
      if (diagonal[static_cast<std::size_t>(i)] < 0) outcome.found(i);
    }
  }
  D* pivot(std::int64_t row) {
    const std::int64_t e = diagonal[static_cast<std::size_t>(row)];
    return e < 0 ? nullptr : &a.value[static_cast<std::size_t>(e)];
  }
};

template <class D>
void factor_lu(Factors<D>& f, const std::optional<Boost>& boost, Outcome& outcome) {
  std::vector<std::int64_t> place(static_cast<std::size_t>(f.a.columns), -1);  // of each column in the current row
  for (std::int64_t i = 0; i < f.a.rows; ++i) {
    for (std::size_t e = f.begin(i); e < f.end(i); ++e)
      place[static_cast<std::size_t>(f.a.column[e])] = static_cast<std::int64_t>(e);
    for (std::size_t e = f.begin(i); e < f.end(i) && f.a.column[e] < i; ++e) {
      const std::int64_t k = f.a.column[e];
      const D* const pivot = f.pivot(k);
      if (!pivot) continue;
      f.a.value[e] /= *pivot;
      for (std::size_t u = static_cast<std::size_t>(f.diagonal[static_cast<std::size_t>(k)]) + 1; u < f.end(k); ++u) {
        const std::int64_t at = place[static_cast<std::size_t>(f.a.column[u])];
        if (at >= 0) f.a.value[static_cast<std::size_t>(at)] -= f.a.value[e] * f.a.value[u];
      }
    }
    if (D* const pivot = f.pivot(i)) {
      if (boost && std::abs(*pivot) <= boost->tolerance) *pivot = converted<D>(boost->value);
      if (*pivot == D{}) outcome.found(i);
    }
    for (std::size_t e = f.begin(i); e < f.end(i); ++e) place[static_cast<std::size_t>(f.a.column[e])] = -1;
  }
}

// Cholesky factor L of A = L L^H. It replaces the lower triangle of A.
template <class D>
void factor_cholesky(Factors<D>& f, const std::optional<Boost>&, Outcome& outcome) {
  const auto dot = [&](std::int64_t i, std::int64_t k) {  // dot product of rows i and k of L, up to column k
    D sum{};
    std::size_t e = f.begin(i), g = f.begin(k);
    while (e < f.end(i) && g < f.end(k) && f.a.column[e] < k && f.a.column[g] < k) {
      if (f.a.column[e] == f.a.column[g]) sum += f.a.value[e] * conjugate(f.a.value[g]);
      const bool left = f.a.column[e] <= f.a.column[g], right = f.a.column[g] <= f.a.column[e];
      e += left;
      g += right;
    }
    return sum;
  };
  for (std::int64_t i = 0; i < f.a.rows; ++i) {
    for (std::size_t e = f.begin(i); e < f.end(i) && f.a.column[e] < i; ++e) {
      const std::int64_t k = f.a.column[e];
      if (const D* const pivot = f.pivot(k)) f.a.value[e] = (f.a.value[e] - dot(i, k)) / conjugate(*pivot);
    }
    if (D* const pivot = f.pivot(i)) {
      *pivot = std::sqrt(*pivot - dot(i, i));
      if (!(std::real(*pivot) > 0)) outcome.found(i);
    }
  }
}

// Arguments of a csrilu02 or csric02 call.
struct Call {
  const char* function;
  int m, nnz;
  const cusparseMatDescr* description;
  cudaDataType type;
  const void* values;
  const int *offsets, *columns;
};
cusparseStatus_t check(cusparseHandle_t handle, const Call& call, const void* info, cusparseSpMatDescr& matrix) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto description = find(call.description);
  WG_NEED(description, info);
  if (call.m < 0 || call.nnz < 0) return CUSPARSE_STATUS_INVALID_VALUE;
  if (description->type != CUSPARSE_MATRIX_TYPE_GENERAL) return CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
  if (call.m > 0) WG_NEED(call.values, call.offsets, call.columns);
  matrix.rows = matrix.columns = call.m;
  matrix.nnz = call.nnz;
  matrix.offsets = const_cast<int*>(call.offsets);
  matrix.indices = const_cast<int*>(call.columns);
  matrix.values = const_cast<void*>(call.values);
  matrix.type = call.type;
  matrix.base = description->base;
  return CUSPARSE_STATUS_SUCCESS;
}
template <class Bytes>
cusparseStatus_t need_buffer(cusparseHandle_t handle, const Call& call, const void* info, Bytes* bytes) {
  cusparseSpMatDescr matrix;
  if (const cusparseStatus_t wrong = check(handle, call, info, matrix)) return wrong;
  WG_NEED(bytes);
  *bytes = kBufferBytes;
  return CUSPARSE_STATUS_SUCCESS;
}

// Issues the factorisation. If `solve` is false it is only the analysis, which finds missing pivots.
template <class Factor>
cusparseStatus_t run_call(cusparseHandle_t handle, const Call& call, const csrilu02Info* info, bool solve,
                          Factor factor) {
  cusparseSpMatDescr matrix;
  if (const cusparseStatus_t wrong = check(handle, call, info, matrix)) return wrong;
  const auto bytes = static_cast<double>(element_bytes(call.type) + sizeof(int));
  return compute(*find(handle), call.function, fmt::format("{} x {} with {} elements", call.m, call.m, call.nnz),
                 bytes * call.nnz * (solve ? 2 : 1), solve ? 2.0 * call.nnz : 0, is_complex(call.type),
                 [=, outcome = info->outcome, boost = info->boost](LibraryRun& run, auto zero) {
                   *outcome = {-1, matrix.base};
                   Factors<decltype(zero)> f;
                   if (!read_sparse(run, matrix, CUSPARSE_OPERATION_NON_TRANSPOSE, f.a)) return;
                   f.find_diagonal(*outcome);
                   if (!solve) return;
                   if (!run.writes("csrSortedValA_valM", matrix.values, f.a.value.size() * element_bytes(matrix.type)))
                     return;
                   factor(f, boost, *outcome);
                   store(matrix.type, matrix.values, matrix.nnz, matrix.nnz, 1, f.a.value.data());
                 });
}

// Position of the first zero pivot. Waits for the factorisation.
cusparseStatus_t zero_pivot(cusparseHandle_t handle, const char* function, const csrilu02Info* info, int* position) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  WG_NEED(info, position);
  const bool on_device = context->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE;
  const auto answer = std::make_shared<int>(-1);
  const cusparseStatus_t status = issue_call(
      *context, function, "", sizeof(int), 0,
      [=, outcome = info->outcome](LibraryRun& run) {
        if (outcome->zero_pivot >= 0) *answer = static_cast<int>(outcome->zero_pivot + outcome->base);
        if (!on_device || run.writes("position", position, sizeof *position)) *position = *answer;
      },
      true);
  if (status != CUSPARSE_STATUS_SUCCESS) return status;
  return *answer < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;
}

cusparseStatus_t set_boost(cusparseHandle_t handle, csrilu02Info* info, int enable, const double* tolerance,
                           cudaDataType type, const void* value) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  WG_NEED(info);
  info->boost.reset();
  if (!enable) return CUSPARSE_STATUS_SUCCESS;
  WG_NEED(tolerance, value);
  if (context->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE) return CUSPARSE_STATUS_NOT_SUPPORTED;
  info->boost = Boost{*tolerance, read_factor(type, value)};
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace
}  // namespace warpgrind::libraries::sparse

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::sparse;

extern "C" {

cusparseStatus_t cusparseCreateCsrilu02Info(csrilu02Info_t* info) {
  return create_descriptor(info);
}
cusparseStatus_t cusparseDestroyCsrilu02Info(csrilu02Info_t info) {
  return destroy_descriptor(info);
}
cusparseStatus_t cusparseXcsrilu02_zeroPivot(cusparseHandle_t handle, csrilu02Info_t info, int* position) {
  return zero_pivot(handle, "cusparseXcsrilu02_zeroPivot", info, position);
}
cusparseStatus_t cusparseCreateCsric02Info(csric02Info_t* info) {
  return create_descriptor(info);
}
cusparseStatus_t cusparseDestroyCsric02Info(csric02Info_t info) {
  return destroy_descriptor(info);
}
cusparseStatus_t cusparseXcsric02_zeroPivot(cusparseHandle_t handle, csric02Info_t info, int* position) {
  return zero_pivot(handle, "cusparseXcsric02_zeroPivot", info, position);
}

#define WG_INCOMPLETE(letter, T, name, factor)                                                                         \
  cusparseStatus_t cusparse##letter##name##_bufferSize(                                                                \
      cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t description, T* values, const int* offsets,    \
      const int* columns, name##Info_t info, int* bytes) {                                                             \
    return need_buffer(handle, {"", m, nnz, description, kTypeOf<T>, values, offsets, columns}, info, bytes);          \
  }                                                                                                                    \
  cusparseStatus_t cusparse##letter##name##_bufferSizeExt(                                                             \
      cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t description, T* values, const int* offsets,    \
      const int* columns, name##Info_t info, size_t* bytes) {                                                          \
    return need_buffer(handle, {"", m, nnz, description, kTypeOf<T>, values, offsets, columns}, info, bytes);          \
  }                                                                                                                    \
  cusparseStatus_t cusparse##letter##name##_analysis(                                                                  \
      cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t description, const T* values,                  \
      const int* offsets, const int* columns, name##Info_t info, cusparseSolvePolicy_t, void*) {                       \
    return run_call(handle,                                                                                            \
                    {"cusparse" #letter #name "_analysis", m, nnz, description, kTypeOf<T>, values, offsets, columns}, \
                    info, false, [](auto& f, const auto& boost, Outcome& outcome) { factor(f, boost, outcome); });     \
  }                                                                                                                    \
  cusparseStatus_t cusparse##letter##name(cusparseHandle_t handle, int m, int nnz,                                     \
                                          const cusparseMatDescr_t description, T* values, const int* offsets,         \
                                          const int* columns, name##Info_t info, cusparseSolvePolicy_t, void*) {       \
    return run_call(handle, {"cusparse" #letter #name, m, nnz, description, kTypeOf<T>, values, offsets, columns},     \
                    info, true, [](auto& f, const auto& boost, Outcome& outcome) { factor(f, boost, outcome); });      \
  }
#define WG_TYPED(letter, T)                                                                                          \
  WG_INCOMPLETE(letter, T, csrilu02, factor_lu)                                                                      \
  WG_INCOMPLETE(letter, T, csric02, factor_cholesky)                                                                 \
  cusparseStatus_t cusparse##letter##csrilu02_numericBoost(cusparseHandle_t handle, csrilu02Info_t info, int enable, \
                                                           double* tolerance, T* value) {                            \
    return set_boost(handle, info, enable, tolerance, kTypeOf<T>, value);                                            \
  }
WG_TYPED(S, float)
WG_TYPED(D, double)
WG_TYPED(C, cuComplex)
WG_TYPED(Z, cuDoubleComplex)
#undef WG_TYPED
#undef WG_INCOMPLETE

}  // extern "C"
