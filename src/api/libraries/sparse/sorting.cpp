// Counting of nonzero elements, and sorting of sparse matrices' indices (cuSPARSE).
#include <algorithm>
#include <numeric>

#include "libraries/common/numbers.h"
#include "libraries/sparse/matrices.h"

namespace warpgrind::libraries::sparse {
namespace {

cusparseStatus_t count_elements(const char* function, cusparseHandle_t handle, cusparseDirection_t direction, int m,
                                int n, const cusparseMatDescr* description, const void* a, cudaDataType type, int lda,
                                int* counts, int* total) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  WG_NEED(find(description), total);
  const bool by_rows = direction == CUSPARSE_DIRECTION_ROW;
  if (m < 0 || n < 0 || lda < std::max(1, m) || (!by_rows && direction != CUSPARSE_DIRECTION_COLUMN))
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (m > 0 && n > 0) WG_NEED(a, counts);
  cusparseDnMatDescr dense;
  dense.rows = m;
  dense.columns = n;
  dense.ld = lda;
  dense.values = const_cast<void*>(a);
  dense.type = type;
  const bool on_device = context->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE;
  return compute(
      *context, function, fmt::format("{} x {}", m, n), static_cast<double>(dense_bytes(dense)), 0, is_complex(type),
      [=](LibraryRun& run, auto zero) {
        Dense<decltype(zero)> whole;
        if (!read_dense(run, "A", dense, CUSPARSE_OPERATION_NON_TRANSPOSE, whole)) return;
        std::vector<std::int64_t> each(static_cast<std::size_t>(by_rows ? m : n));
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < m; ++i)
            if (whole.at(i, j) != zero) ++each[static_cast<std::size_t>(by_rows ? i : j)];
        if (!write_indices(run, "nnzPerRowCol", counts, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, each) ||
            (on_device && !run.writes("nnzTotalDevHostPtr", total, sizeof *total)))
          return;
        *total = static_cast<int>(std::accumulate(each.begin(), each.end(), std::int64_t{0}));
      },
      !on_device);
}

// An array of a sort. Arrays are sorted together, by one or two of them; null arrays are skipped.
struct Sorted {
  const char* name;
  int* at;
};
bool sort_together(LibraryRun& run, const Sorted (&arrays)[3], std::int64_t count,
                   const std::vector<std::int64_t>& group) {
  std::vector<std::int64_t> values[3], order(static_cast<std::size_t>(count));
  for (int i = 0; i < 3; ++i)
    if (arrays[i].at && !read_indices(run, arrays[i].name, arrays[i].at, CUSPARSE_INDEX_32I, count,
                                      CUSPARSE_INDEX_BASE_ZERO, values[i]))
      return false;
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return std::pair(group.empty() ? values[0][at] : group[at], group.empty() ? values[1][at] : values[0][at]);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return key(a) < key(b); });
  for (int i = 0; i < 3; ++i) {
    if (!arrays[i].at) continue;
    std::vector<std::int64_t> out;
    for (const std::int64_t from : order) out.push_back(values[i][static_cast<std::size_t>(from)]);
    if (!write_indices(run, arrays[i].name, arrays[i].at, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, out))
      return false;
  }
  return true;
}

// Sorts the indices within each row of CSR, or each column of CSC.
cusparseStatus_t sort_compressed(const char* function, cusparseHandle_t handle, int outer, int inner, int nnz,
                                 const cusparseMatDescr* description, const int* offsets, int* indices,
                                 int* permutation) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto matrix = find(description);
  WG_NEED(matrix, offsets);
  if (outer < 0 || inner < 0 || nnz < 0 || (nnz > 0 && !indices)) return CUSPARSE_STATUS_INVALID_VALUE;
  cusparseSpMatDescr places;
  places.rows = outer;
  places.columns = inner;
  places.nnz = nnz;
  places.offsets = const_cast<int*>(offsets);
  places.indices = indices;
  places.base = matrix->base;
  return issue_call(*context, function, fmt::format("{} x {} with {} elements", outer, inner, nnz), 16.0 * nnz, 0,
                    [=](LibraryRun& run) {
                      std::vector<std::int64_t> group, unused;
                      if (read_places(run, places, group, unused))
                        sort_together(run, {{"indices", indices}, {nullptr, nullptr}, {"P", permutation}}, nnz, group);
                    });
}

cusparseStatus_t sort_places(const char* function, cusparseHandle_t handle, int m, int n, int nnz, int* first,
                             int* second, int* permutation) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || nnz < 0 || (nnz > 0 && (!first || !second))) return CUSPARSE_STATUS_INVALID_VALUE;
  return issue_call(*context, function, fmt::format("{} x {} with {} elements", m, n, nnz), 24.0 * nnz, 0,
                    [=](LibraryRun& run) {
                      if (nnz > 0)
                        sort_together(run, {{"rows", first}, {"columns", second}, {"P", permutation}}, nnz, {});
                    });
}

cusparseStatus_t need_buffer(cusparseHandle_t handle, int m, int n, int nnz, size_t* bytes) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || nnz < 0 || !bytes) return CUSPARSE_STATUS_INVALID_VALUE;
  *bytes = kBufferBytes;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace
}  // namespace warpgrind::libraries::sparse

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::sparse;

extern "C" {

#define WG_NNZ(letter, T)                                                                                             \
  cusparseStatus_t cusparse##letter##nnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,        \
                                         const cusparseMatDescr_t description, const T* a, int lda, int* counts,      \
                                         int* total) {                                                                \
    return count_elements("cusparse" #letter "nnz", handle, direction, m, n, description, a, kTypeOf<T>, lda, counts, \
                          total);                                                                                     \
  }
WG_NNZ(S, float)
WG_NNZ(D, double)
WG_NNZ(C, cuComplex)
WG_NNZ(Z, cuDoubleComplex)
#undef WG_NNZ

cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n, int* p) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (n < 0 || (n > 0 && !p)) return CUSPARSE_STATUS_INVALID_VALUE;
  return issue_call(*context, "cusparseCreateIdentityPermutation", fmt::format("{}", n), 4.0 * n, 0,
                    [=](LibraryRun& run) {
                      if (run.writes("p", p, static_cast<size_t>(n) * sizeof *p)) std::iota(p, p + n, 0);
                    });
}
cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz, const int*, const int*,
                                                size_t* bytes) {
  return need_buffer(handle, m, n, nnz, bytes);
}
cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t description,
                                  const int* offsets, int* columns, int* permutation, void*) {
  return sort_compressed("cusparseXcsrsort", handle, m, n, nnz, description, offsets, columns, permutation);
}
cusparseStatus_t cusparseXcscsort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz, const int*, const int*,
                                                size_t* bytes) {
  return need_buffer(handle, m, n, nnz, bytes);
}
cusparseStatus_t cusparseXcscsort(cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t description,
                                  const int* offsets, int* rows, int* permutation, void*) {
  return sort_compressed("cusparseXcscsort", handle, n, m, nnz, description, offsets, rows, permutation);
}
cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz, const int*, const int*,
                                                size_t* bytes) {
  return need_buffer(handle, m, n, nnz, bytes);
}
cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int m, int n, int nnz, int* rows, int* columns,
                                       int* permutation, void*) {
  return sort_places("cusparseXcoosortByRow", handle, m, n, nnz, rows, columns, permutation);
}
cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int m, int n, int nnz, int* rows, int* columns,
                                          int* permutation, void*) {
  return sort_places("cusparseXcoosortByColumn", handle, m, n, nnz, columns, rows, permutation);
}

}  // extern "C"
