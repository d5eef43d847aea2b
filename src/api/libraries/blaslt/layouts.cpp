// Memory orders of cuBLASLt matrices: by columns, by rows, and in tiles.
#include "libraries/blaslt/layouts.h"

#include <algorithm>

#include "libraries/common/elements.h"

namespace warpgrind::libraries::blaslt {

namespace {

std::int64_t rounded_up(std::int64_t n, std::int64_t to) {
  return (n + to - 1) / to * to;
}

// Number of elements in 32 columns of all rows, in the tiled orders.
std::int64_t tile_elements(const Layout& l) {
  const std::int64_t rows_together = l.order == CUBLASLT_ORDER_COL4_4R2_8C    ? 8
                                     : l.order == CUBLASLT_ORDER_COL32_2R_4R4 ? 32
                                                                              : 1;
  return 32 * rounded_up(rows_of(l), rows_together);
}

// Offset of an element in the tiled orders (documentation of cublasLtOrder_t).
std::int64_t tiled_offset(const Layout& l, std::int64_t row, std::int64_t column) {
  const std::int64_t c = column % 32, tiles = column / 32 * l.ld;
  switch (l.order) {
    case CUBLASLT_ORDER_COL4_4R2_8C: {
      const std::int64_t r = row % 8;
      return tiles + row / 8 * 256 + r % 2 * 128 + c / 8 * 32 + c / 4 % 2 * 16 + r / 2 * 4 + c % 4;
    }
    case CUBLASLT_ORDER_COL32_2R_4R4: {
      const std::int64_t r = row % 32;
      return tiles + row / 32 * 1024 + ((r % 8 / 2 * 4 + r / 8) * 2 + r % 2) * 32 + c;
    }
    default:
      return tiles + row * 32 + c;
  }
}

char* at_element(const Layout& l, const void* matrix, std::int64_t row, std::int64_t column) {
  return static_cast<char*>(const_cast<void*>(matrix)) +
         tiled_offset(l, row, column) * static_cast<std::int64_t>(element_bytes(l.element()));
}

template <class T>
std::vector<T> transposed(const std::vector<T>& from, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kSquare = 32;  // square blocks, so that reads and writes both use the host's caches
  std::vector<T> out(from.size());
  for (std::int64_t j0 = 0; j0 < columns; j0 += kSquare)
    for (std::int64_t i0 = 0; i0 < rows; i0 += kSquare)
      for (std::int64_t j = j0; j < std::min(columns, j0 + kSquare); ++j)
        for (std::int64_t i = i0; i < std::min(rows, i0 + kSquare); ++i)
          out[static_cast<std::size_t>(i * columns + j)] = from[static_cast<std::size_t>(j * rows + i)];
  return out;
}

}  // namespace

cublasStatus_t check(const Layout& l) {
  if (l.order < CUBLASLT_ORDER_COL || l.order > CUBLASLT_ORDER_COL32_2R_4R4 || l.batch < 0 ||
      (l.batch_mode != CUBLASLT_BATCH_MODE_STRIDED && l.batch_mode != CUBLASLT_BATCH_MODE_POINTER_ARRAY))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (element_bytes(l.element()) == 0 || l.plane_offset != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (l.rows > blas::kMostElements || l.columns > blas::kMostElements || !blas::fits(l.ld))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const std::int64_t least = l.order == CUBLASLT_ORDER_COL   ? rows_of(l)
                             : l.order == CUBLASLT_ORDER_ROW ? columns_of(l)
                                                             : tile_elements(l);
  return blas::at_least(l.ld, least) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

std::int64_t span_of(const Layout& l) {
  if (l.order == CUBLASLT_ORDER_COL) return blas::matrix_elements(rows_of(l), columns_of(l), l.ld);
  if (l.order == CUBLASLT_ORDER_ROW) return blas::matrix_elements(columns_of(l), rows_of(l), l.ld);
  return blas::matrix_elements(tile_elements(l), rounded_up(columns_of(l), 32) / 32, l.ld);
}

void* matrix_of(const Layout& l, const void* first, std::int64_t i) {
  if (l.batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY) return static_cast<void* const*>(first)[i];
  return static_cast<char*>(const_cast<void*>(first)) +
         i * l.stride * static_cast<std::int64_t>(element_bytes(l.element()));
}
bool reads_addresses(LibraryRun& run, const char* name, const Layout& l, const void* first) {
  return l.batch_mode != CUBLASLT_BATCH_MODE_POINTER_ARRAY ||
         run.reads(name, first, static_cast<std::size_t>(l.batch) * sizeof(void*));
}
bool reads(LibraryRun& run, const char* name, const Layout& l, const void* matrix) {
  return run.reads(name, matrix, static_cast<std::size_t>(span_of(l)) * element_bytes(l.element()));
}
bool writes(LibraryRun& run, const char* name, const Layout& l, void* matrix) {
  return run.writes(name, matrix, static_cast<std::size_t>(span_of(l)) * element_bytes(l.element()));
}

template <class T>
std::vector<T> gather(const Layout& l, const void* matrix) {
  const std::int64_t rows = rows_of(l), columns = columns_of(l);
  std::vector<T> out(static_cast<std::size_t>(rows * columns));
  if (l.order == CUBLASLT_ORDER_COL) {
    load(l.element(), matrix, l.ld, rows, columns, out.data());
    return out;
  }
  if (l.order == CUBLASLT_ORDER_ROW) {
    load(l.element(), matrix, l.ld, columns, rows, out.data());
    return transposed(out, columns, rows);
  }
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i)
      load(l.element(), at_element(l, matrix, i, j), 1, 1, 1, &out[static_cast<std::size_t>(j * rows + i)]);
  return out;
}

template <class T>
void scatter(const Layout& l, const std::vector<T>& from, void* matrix) {
  const std::int64_t rows = rows_of(l), columns = columns_of(l);
  if (l.order == CUBLASLT_ORDER_COL) return store(l.element(), matrix, l.ld, rows, columns, from.data());
  if (l.order == CUBLASLT_ORDER_ROW)
    return store(l.element(), matrix, l.ld, columns, rows, transposed(from, rows, columns).data());
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i)
      store(l.element(), at_element(l, matrix, i, j), 1, 1, 1, &from[static_cast<std::size_t>(j * rows + i)]);
}

#define WG_FOR_NUMBERS(T)                                        \
  template std::vector<T> gather<T>(const Layout&, const void*); \
  template void scatter<T>(const Layout&, const std::vector<T>&, void*);
WG_FOR_NUMBERS(float)
WG_FOR_NUMBERS(double)
WG_FOR_NUMBERS(Complex)
WG_FOR_NUMBERS(DoubleComplex)
#undef WG_FOR_NUMBERS

}  // namespace warpgrind::libraries::blaslt
