// Sparse and dense operands in one format for computation, converted from and to cuSPARSE's formats and types.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libraries/sparse/descriptors.h"

namespace warpgrind::libraries::sparse {

// A sparse matrix by rows. Within a row the elements keep the order of the source matrix.
template <class D>
struct Sparse {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> begin;   // first element of each row; then the number of elements
  std::vector<std::int64_t> column;  // of each element
  std::vector<std::int64_t> place;   // index of each element in the source matrix's arrays
  std::vector<D> value;
};

// Matrix `i` of a batch.
inline cusparseSpMatDescr one_of(cusparseSpMatDescr m, std::int64_t i) {
  const auto advance = [](void* at, std::int64_t elements, std::size_t bytes) -> void* {
    return static_cast<char*>(at) + elements * static_cast<std::int64_t>(bytes);
  };
  m.offsets = advance(m.offsets, i * m.offsets_stride, index_bytes(m.offset_type));
  m.indices = advance(m.indices, i * m.elements_stride, index_bytes(m.index_type));
  m.values = advance(m.values, i * m.elements_stride, element_bytes(m.type));
  return m;
}
inline cusparseDnMatDescr one_of(cusparseDnMatDescr m, std::int64_t i) {
  m.values = static_cast<char*>(m.values) + i * m.stride * static_cast<std::int64_t>(element_bytes(m.type));
  return m;
}

// Reads or writes integers of the type, converting between the matrix's index base and base 0.
bool read_indices(LibraryRun& run, const char* name, const void* at, cusparseIndexType_t type, std::int64_t count,
                  cusparseIndexBase_t base, std::vector<std::int64_t>& out);
bool write_indices(LibraryRun& run, const char* name, void* at, cusparseIndexType_t type, cusparseIndexBase_t base,
                   const std::vector<std::int64_t>& from);
// Row and column of each element. False: an address or an index is not valid.
bool read_places(LibraryRun& run, const cusparseSpMatDescr& m, std::vector<std::int64_t>& rows,
                 std::vector<std::int64_t>& columns);
// Order of the elements when sorted by `key` (their rows or columns), stable. begin: first position of each key.
std::vector<std::int64_t> order_by(const std::vector<std::int64_t>& key, std::int64_t keys,
                                   std::vector<std::int64_t>& begin);

template <class D>
bool read_sparse(LibraryRun& run, const cusparseSpMatDescr& m, cusparseOperation_t op, Sparse<D>& out) {
  std::vector<std::int64_t> rows, columns;
  if (!read_places(run, m, rows, columns)) return false;
  if (!run.reads("values", m.values, static_cast<std::size_t>(m.nnz) * element_bytes(m.type))) return false;
  std::vector<D> values(static_cast<std::size_t>(m.nnz));
  load(m.type, m.values, m.nnz, m.nnz, 1, values.data());
  const bool transposed = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (transposed) rows.swap(columns);
  out.rows = transposed ? m.columns : m.rows;
  out.columns = transposed ? m.rows : m.columns;
  out.place = order_by(rows, out.rows, out.begin);
  for (const std::int64_t i : out.place) {
    out.column.push_back(columns[static_cast<std::size_t>(i)]);
    const D v = values[static_cast<std::size_t>(i)];
    out.value.push_back(op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(v) : v);
  }
  return true;
}

// A dense matrix in column-major order, after op (transpose, conjugate) was applied.
template <class D>
struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<D> value;
  D& at(std::int64_t i, std::int64_t j) { return value[static_cast<std::size_t>(j * rows + i)]; }
  const D& at(std::int64_t i, std::int64_t j) const { return value[static_cast<std::size_t>(j * rows + i)]; }
};
inline std::size_t dense_bytes(const cusparseDnMatDescr& m) {
  const bool by_columns = m.order == CUSPARSE_ORDER_COL;
  const std::int64_t inner = by_columns ? m.rows : m.columns, outer = by_columns ? m.columns : m.rows;
  if (inner <= 0 || outer <= 0) return 0;
  return static_cast<std::size_t>((outer - 1) * m.ld + inner) * element_bytes(m.type);
}
template <class D>
Dense<D> transposed(const Dense<D>& a, bool conjugated) {
  Dense<D> out{a.columns, a.rows, std::vector<D>(a.value.size())};
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i) out.at(j, i) = conjugated ? conjugate(a.at(i, j)) : a.at(i, j);
  return out;
}
template <class D>
bool read_dense(LibraryRun& run, const char* name, const cusparseDnMatDescr& m, cusparseOperation_t op, Dense<D>& out) {
  if (!run.reads(name, m.values, dense_bytes(m))) return false;
  const bool by_columns = m.order == CUSPARSE_ORDER_COL;
  out.rows = by_columns ? m.rows : m.columns;
  out.columns = by_columns ? m.columns : m.rows;
  out.value.resize(static_cast<std::size_t>(m.rows * m.columns));
  load(m.type, m.values, m.ld, out.rows, out.columns, out.value.data());
  const bool turned = (op != CUSPARSE_OPERATION_NON_TRANSPOSE) == by_columns;
  if (turned)
    out = transposed(out, op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);
  else if (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
    std::transform(out.value.begin(), out.value.end(), out.value.begin(), [](D v) { return conjugate(v); });
  return true;
}
template <class D>
bool write_dense(LibraryRun& run, const char* name, const cusparseDnMatDescr& m, const Dense<D>& from) {
  if (!run.writes(name, m.values, dense_bytes(m))) return false;
  if (m.order == CUSPARSE_ORDER_COL) {
    store(m.type, m.values, m.ld, from.rows, from.columns, from.value.data());
  } else {
    const Dense<D> turned = transposed(from, false);
    store(m.type, m.values, m.ld, turned.rows, turned.columns, turned.value.data());
  }
  return true;
}

}  // namespace warpgrind::libraries::sparse
