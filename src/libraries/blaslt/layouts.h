// Matrices in the memory orders of cublasLtOrder_t.
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

// Sizes that can be, a type that there is, and a leading dimension that is long enough.
cublasStatus_t check(const Layout& l);
// Elements from the first to the last of one matrix.
std::int64_t span_of(const Layout& l);
// Matrix `i` of a batch; arrays of addresses must have been asked for.
void* matrix_of(const Layout& l, const void* first, std::int64_t i);
bool reads_addresses(LibraryRun& run, const char* name, const Layout& l, const void* first);
bool reads(LibraryRun& run, const char* name, const Layout& l, const void* matrix);
bool writes(LibraryRun& run, const char* name, const Layout& l, void* matrix);

// One matrix to or from columns without gaps.
template <class T>
std::vector<T> gather(const Layout& l, const void* matrix);
template <class T>
void scatter(const Layout& l, const std::vector<T>& columns, void* matrix);

}  // namespace warpgrind::libraries::blaslt
