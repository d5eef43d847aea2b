// Operations of cuSPARSE on a sparse and a dense vector, and conversions between matrix formats.
#include "libraries/sparse/matrices.h"

namespace warpgrind::libraries::sparse {
namespace {

// A call on a sparse vector X and a dense vector Y. `work` gets their descriptors and contents, and changes them.
template <class Work>
cusparseStatus_t on_vectors(const char* function, cusparseHandle_t handle, const cusparseSpVecDescr* x,
                            const cusparseDnVecDescr* y, Work work) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto sparse = find(x);
  const auto dense = find(y);
  WG_NEED(sparse, dense);
  if (sparse->size != dense->column.rows || is_complex(sparse->type) != is_complex(dense->column.type))
    return CUSPARSE_STATUS_INVALID_VALUE;
  const std::size_t bytes = static_cast<std::size_t>(sparse->nnz) * element_bytes(sparse->type);
  return compute(*context, function, fmt::format("{} of {}", sparse->nnz, sparse->size), 3 * static_cast<double>(bytes),
                 2 * static_cast<double>(sparse->nnz), is_complex(sparse->type),
                 [=, s = *sparse, d = dense->column](LibraryRun& run, auto zero) {
                   using D = decltype(zero);
                   std::vector<std::int64_t> indices;
                   std::vector<D> values(static_cast<std::size_t>(s.nnz));
                   Dense<D> out;
                   if (!read_indices(run, "indices", s.indices, s.index_type, s.nnz, s.base, indices) ||
                       !run.reads("values", s.values, bytes) ||
                       !read_dense(run, "vecY", d, CUSPARSE_OPERATION_NON_TRANSPOSE, out))
                     return;
                   for (const std::int64_t i : indices)
                     if (i < 0 || i >= s.size)
                       return run.fail(fmt::format("the sparse vector has index {}, its size is {}", i, s.size));
                   load(s.type, s.values, s.nnz, s.nnz, 1, values.data());
                   work(run, s, d, indices, values, out);
                 });
}
template <class D>
void write_values(LibraryRun& run, const cusparseSpVecDescr& s, const std::vector<D>& values) {
  if (run.writes("values", s.values, values.size() * element_bytes(s.type)))
    store(s.type, s.values, s.nnz, s.nnz, 1, values.data());
}
std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// Positions of a sparse matrix's elements.
struct Pattern {
  std::vector<std::int64_t> offsets, indices, rows;  // rows: for COO
};
template <class D>
Pattern pattern_of(const Dense<D>& a, bool by_rows, std::vector<D>& values) {
  Pattern p;
  p.offsets.push_back(0);
  for (std::int64_t outer = 0; outer < (by_rows ? a.rows : a.columns); ++outer) {
    for (std::int64_t inner = 0; inner < (by_rows ? a.columns : a.rows); ++inner) {
      const D v = by_rows ? a.at(outer, inner) : a.at(inner, outer);
      if (v == D{}) continue;
      p.indices.push_back(inner);
      p.rows.push_back(outer);
      values.push_back(v);
    }
    p.offsets.push_back(static_cast<std::int64_t>(p.indices.size()));
  }
  return p;
}

cusparseStatus_t dense_to_sparse(const char* function, cusparseHandle_t handle, const cusparseDnMatDescr* a,
                                 const cusparseSpMatDescr* b, bool convert) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto dense = find(a);
  const auto sparse = find(b);
  WG_NEED(dense, sparse);
  if (dense->rows != sparse->rows || dense->columns != sparse->columns) return CUSPARSE_STATUS_INVALID_VALUE;
  auto count = std::make_shared<std::int64_t>(-1);
  const cusparseStatus_t status = compute(
      *context, function, fmt::format("{} x {}", dense->rows, dense->columns),
      static_cast<double>(dense_bytes(*dense)) * 2, 0, is_complex(dense->type),
      [=, d = *dense, s = *sparse](LibraryRun& run, auto zero) {
        using D = decltype(zero);
        Dense<D> whole;
        if (!read_dense(run, "matA", d, CUSPARSE_OPERATION_NON_TRANSPOSE, whole)) return;
        std::vector<D> values;
        const bool coo = s.format == CUSPARSE_FORMAT_COO;
        const Pattern p = pattern_of(whole, s.format != CUSPARSE_FORMAT_CSC, values);
        *count = static_cast<std::int64_t>(values.size());
        if (!coo && !write_indices(run, "offsets", s.offsets, s.offset_type, s.base, p.offsets)) return;
        if (!convert) return;
        if (coo && !write_indices(run, "cooRowInd", s.offsets, s.index_type, s.base, p.rows)) return;
        if (!write_indices(run, "indices", s.indices, s.index_type, s.base, p.indices) ||
            !run.writes("values", s.values, values.size() * element_bytes(s.type)))
          return;
        store(s.type, s.values, *count, *count, 1, values.data());
      },
      !convert);
  if (status == CUSPARSE_STATUS_SUCCESS && !convert) {
    if (*count < 0) return CUSPARSE_STATUS_EXECUTION_FAILED;
    sparse->nnz = *count;
  }
  return status;
}

}  // namespace
}  // namespace warpgrind::libraries::sparse

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::sparse;

extern "C" {

cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha, cusparseConstSpVecDescr_t x,
                               const void* beta, cusparseDnVecDescr_t y) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto sparse = find(x);
  WG_NEED(sparse, alpha, beta);
  const Factor al = factor(*context, sparse->type, alpha), be = factor(*context, sparse->type, beta);
  return on_vectors("cusparseAxpby", handle, x, y,
                    [=](LibraryRun& run, const cusparseSpVecDescr&, const cusparseDnMatDescr& d, const auto& indices,
                        const auto& values, auto& out) {
                      typename std::decay_t<decltype(values)>::value_type av, bv;
                      if (!al.get(run, "alpha", av) || !be.get(run, "beta", bv)) return;
                      for (auto& v : out.value) v *= bv;
                      for (size_t i = 0; i < indices.size(); ++i) out.value[at(indices[i])] += av * values[i];
                      write_dense(run, "vecY", d, out);
                    });
}
cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x) {
  return on_vectors("cusparseGather", handle, x, y,
                    [](LibraryRun& run, const cusparseSpVecDescr& s, const cusparseDnMatDescr&, const auto& indices,
                       auto& values, const auto& out) {
                      for (size_t i = 0; i < indices.size(); ++i) values[i] = out.value[at(indices[i])];
                      write_values(run, s, values);
                    });
}
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y) {
  return on_vectors("cusparseScatter", handle, x, y,
                    [](LibraryRun& run, const cusparseSpVecDescr&, const cusparseDnMatDescr& d, const auto& indices,
                       const auto& values, auto& out) {
                      for (size_t i = 0; i < indices.size(); ++i) out.value[at(indices[i])] = values[i];
                      write_dense(run, "vecY", d, out);
                    });
}
cusparseStatus_t cusparseRot(cusparseHandle_t handle, const void* c, const void* s, cusparseSpVecDescr_t x,
                             cusparseDnVecDescr_t y) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto sparse = find(x);
  WG_NEED(sparse, c, s);
  const Factor cosine = factor(*context, sparse->type, c), sine = factor(*context, sparse->type, s);
  return on_vectors("cusparseRot", handle, x, y,
                    [=](LibraryRun& run, const cusparseSpVecDescr& v, const cusparseDnMatDescr& d, const auto& indices,
                        auto& values, auto& out) {
                      typename std::decay_t<decltype(values)>::value_type cv, sv;
                      if (!cosine.get(run, "c_coeff", cv) || !sine.get(run, "s_coeff", sv)) return;
                      for (size_t i = 0; i < indices.size(); ++i) {
                        auto &a = values[i], &b = out.value[at(indices[i])];
                        const auto rotated = cv * a + sv * b;
                        b = cv * b - sv * a;
                        a = rotated;
                      }
                      write_values(run, v, values);
                      write_dense(run, "vecY", d, out);
                    });
}
cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseConstSpVecDescr_t x,
                                         cusparseConstDnVecDescr_t y, const void*, cudaDataType, size_t* bytes) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!bytes || !find(x) || !find(y)) return CUSPARSE_STATUS_INVALID_VALUE;
  *bytes = kBufferBytes;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpVecDescr_t x,
                              cusparseConstDnVecDescr_t y, void* result, cudaDataType type, void*) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  WG_NEED(result);
  const bool on_device = context->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE;
  const cusparseStatus_t status =
      on_vectors("cusparseSpVV", handle, x, y,
                 [=](LibraryRun& run, const cusparseSpVecDescr&, const cusparseDnMatDescr&, const auto& indices,
                     const auto& values, const auto& out) {
                   typename std::decay_t<decltype(values)>::value_type sum{};
                   for (size_t i = 0; i < indices.size(); ++i)
                     sum += (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(values[i]) : values[i]) *
                            out.value[at(indices[i])];
                   if (!on_device || run.writes("result", result, element_bytes(type)))
                     store(type, result, 1, 1, 1, &sum);
                 });
  if (status == CUSPARSE_STATUS_SUCCESS && !on_device && cudaStreamSynchronize(context->stream) != cudaSuccess)
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  return status;
}

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                                                  cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t, size_t* bytes) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!bytes || !find(a) || !find(b)) return CUSPARSE_STATUS_INVALID_VALUE;
  *bytes = kBufferBytes;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b,
                                       cusparseSparseToDenseAlg_t, void*) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto sparse = find(a);
  const auto dense = find(b);
  WG_NEED(sparse, dense);
  if (dense->rows != sparse->rows || dense->columns != sparse->columns) return CUSPARSE_STATUS_INVALID_VALUE;
  return compute(*context, "cusparseSparseToDense", fmt::format("{} x {}", dense->rows, dense->columns),
                 static_cast<double>(dense_bytes(*dense)), 0, is_complex(sparse->type),
                 [s = *sparse, d = *dense](LibraryRun& run, auto zero) {
                   using D = decltype(zero);
                   Sparse<D> in;
                   if (!read_sparse(run, s, CUSPARSE_OPERATION_NON_TRANSPOSE, in)) return;
                   Dense<D> out{d.rows, d.columns, std::vector<D>(at(d.rows * d.columns))};
                   for (size_t row = 0; row + 1 < in.begin.size(); ++row)
                     for (size_t e = at(in.begin[row]); e < at(in.begin[row + 1]); ++e)
                       out.at(static_cast<std::int64_t>(row), in.column[e]) = in.value[e];
                   write_dense(run, "matB", d, out);
                 });
}
cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                  cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, size_t* bytes) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!bytes || !find(a) || !find(b)) return CUSPARSE_STATUS_INVALID_VALUE;
  *bytes = kBufferBytes;
  return CUSPARSE_STATUS_SUCCESS;
}
// Waits for the work, since the program may read the number of elements after this call.
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void*) {
  return dense_to_sparse("cusparseDenseToSparse_analysis", handle, a, b, false);
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void*) {
  return dense_to_sparse("cusparseDenseToSparse_convert", handle, a, b, true);
}

cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* offsets, int nnz, int m, int* rows,
                                  cusparseIndexBase_t base) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  WG_NEED(offsets, rows);
  if (nnz < 0 || m < 0) return CUSPARSE_STATUS_INVALID_VALUE;
  return issue_call(*context, "cusparseXcsr2coo", fmt::format("{} of {} rows", nnz, m), 4.0 * (nnz + m), 0,
                    [=](LibraryRun& run) {
                      std::vector<std::int64_t> from, to;
                      if (!read_indices(run, "csrSortedRowPtr", offsets, CUSPARSE_INDEX_32I, m + 1, base, from)) return;
                      for (size_t i = 0; i + 1 < from.size(); ++i)
                        for (std::int64_t e = from[i]; e < from[i + 1] && to.size() < at(nnz); ++e)
                          to.push_back(static_cast<std::int64_t>(i));
                      write_indices(run, "cooRowInd", rows, CUSPARSE_INDEX_32I, base, to);
                    });
}
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* rows, int nnz, int m, int* offsets,
                                  cusparseIndexBase_t base) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  WG_NEED(rows, offsets);
  if (nnz < 0 || m < 0) return CUSPARSE_STATUS_INVALID_VALUE;
  return issue_call(*context, "cusparseXcoo2csr", fmt::format("{} of {} rows", nnz, m), 4.0 * (nnz + m), 0,
                    [=](LibraryRun& run) {
                      std::vector<std::int64_t> from, to;
                      if (!read_indices(run, "cooRowInd", rows, CUSPARSE_INDEX_32I, nnz, base, from)) return;
                      for (const std::int64_t row : from)
                        if (row < 0 || row >= m) return run.fail(fmt::format("row {} of a matrix of {} rows", row, m));
                      order_by(from, m, to);
                      write_indices(run, "csrSortedRowPtr", offsets, CUSPARSE_INDEX_32I, base, to);
                    });
}
cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int, int, int, const void*, const int*,
                                               const int*, void*, int*, int*, cudaDataType, cusparseAction_t,
                                               cusparseIndexBase_t, cusparseCsr2CscAlg_t, size_t* bytes) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!bytes) return CUSPARSE_STATUS_INVALID_VALUE;
  *bytes = kBufferBytes;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int m, int n, int nnz, const void* values,
                                    const int* offsets, const int* columns, void* out_values, int* out_offsets,
                                    int* out_rows, cudaDataType type, cusparseAction_t action, cusparseIndexBase_t base,
                                    cusparseCsr2CscAlg_t, void*) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || nnz < 0 || !offsets || !out_offsets) return CUSPARSE_STATUS_INVALID_VALUE;
  const size_t element = element_bytes(type);
  if (!element) return CUSPARSE_STATUS_NOT_SUPPORTED;
  cusparseSpMatDescr matrix;
  matrix.rows = m;
  matrix.columns = n;
  matrix.nnz = nnz;
  matrix.offsets = const_cast<int*>(offsets);
  matrix.indices = const_cast<int*>(columns);
  matrix.base = base;
  return issue_call(
      *context, "cusparseCsr2cscEx2", fmt::format("{} x {} with {} elements", m, n, nnz),
      2.0 * nnz * static_cast<double>(element + 4), 0, [=](LibraryRun& run) {
        std::vector<std::int64_t> rows, cols, begin, sorted;
        if (!read_places(run, matrix, rows, cols)) return;
        const std::vector<std::int64_t> order = order_by(cols, n, begin);
        for (const std::int64_t i : order) sorted.push_back(rows[at(i)]);
        if (!write_indices(run, "cscColPtr", out_offsets, CUSPARSE_INDEX_32I, base, begin) ||
            !write_indices(run, "cscRowInd", out_rows, CUSPARSE_INDEX_32I, base, sorted))
          return;
        if (action != CUSPARSE_ACTION_NUMERIC) return;
        if (!run.reads("csrVal", values, at(nnz) * element) || !run.writes("cscVal", out_values, at(nnz) * element))
          return;
        for (size_t i = 0; i < order.size(); ++i)
          std::copy_n(static_cast<const char*>(values) + at(order[i]) * element, element,
                      static_cast<char*>(out_values) + i * element);
      });
}

}  // extern "C"
