// Access to matrices in the memory orders of cublasLtOrder_t.
#pragma once

#include <cstdint>
#include <vector>

#include "libraries/blaslt/descriptors.h"
#include "libraries/products/operands.h"

namespace warpgrind::libraries::blaslt {

inline std::int64_t rows_of(const Layout& l) {
  return static_cast<std::int64_t>(l.rows);
}
inline std::int64_t columns_of(const Layout& l) {
  return static_cast<std::int64_t>(l.columns);
}
inline bool is_tiled(const Layout& l) {
  return l.order != CUBLASLT_ORDER_COL && l.order != CUBLASLT_ORDER_ROW;
}

// Checks sizes, element type and leading dimension.
cublasStatus_t check(const Layout& l);
// Number of elements from the first to the last one of a matrix, gaps included.
std::int64_t span_of(const Layout& l);
// Address of matrix `i` of a batch. If the batch is an array of addresses, call reads_addresses() first.
void* matrix_of(const Layout& l, const void* first, std::int64_t i);
bool reads_addresses(LibraryRun& run, const char* name, const Layout& l, const void* first);
bool reads(LibraryRun& run, const char* name, const Layout& l, const void* matrix);
bool writes(LibraryRun& run, const char* name, const Layout& l, void* matrix);

// Copies one matrix to or from a dense array in column-major order.
template <class T>
std::vector<T> gather(const Layout& l, const void* matrix);
template <class T>
void scatter(const Layout& l, const std::vector<T>& columns, void* matrix);

}  // namespace warpgrind::libraries::blaslt
