// Product of one warp's part of wgmma: unpacks A and B to dense matrices and multiplies them.
#include "jit/calls/warpgroup_matrix.h"

#include <algorithm>
#include <cstring>

#include "base/per_thread.h"
#include "gpu/types.h"
#include "jit/calls/matrix_elements.h"
#include "jit/calls/matrix_products.h"

namespace warpgrind::jit {

namespace {

using ptx::ScalarType;

constexpr unsigned kRows = kWarpgroupRows, kMostColumns = kMostWarpgroupColumns;
constexpr unsigned kDeepestProduct = 32;  // 8-bit elements

template <class T>
struct Dense {
  T a[kRows * kDeepestProduct];         // row by row
  T b[kDeepestProduct * kMostColumns];  // by depth: columns side by side
  T linear[kDeepestProduct * kMostColumns];
  T sums[kRows * kMostColumns];
};

// On the heap: a library with large thread-local arrays cannot be opened by dlopen.
template <class T>
Dense<T>& dense() {
  return per_thread<Dense<T>>();
}

template <class T>
void make_dense(const WarpgroupProduct& p, const WarpgroupTiles& tiles, unsigned depth, Dense<T>& m) {
  if (p.has(kWarpgroupAByDepth)) {
    unpack_matrix(m.linear, tiles.a, kRows * depth, p.a);
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned i = 0; i < kRows; ++i) m.a[i * depth + k] = m.linear[k * kRows + i];
  } else {
    unpack_matrix(m.a, tiles.a, kRows * depth, p.a);
  }
  if (p.has(kWarpgroupBByDepth)) {
    unpack_matrix(m.b, tiles.b, p.columns * depth, p.b);
  } else {
    unpack_matrix(m.linear, tiles.b, p.columns * depth, p.b);
    transpose_columns(m.b, m.linear, p.columns, depth);
  }
  if (p.has(kWarpgroupNegateA) != p.has(kWarpgroupNegateB))
    for (unsigned i = 0; i < kRows * depth; ++i) m.a[i] = -m.a[i];
}

void multiply_floats(const WarpgroupProduct& p, const WarpgroupTiles& tiles, bool add, std::uint32_t* d) {
  Dense<float>& m = dense<float>();
  const unsigned depth = kWarpgroupDepthBytes * 8 / matrix_element_bits(p.a);
  make_dense(p, tiles, depth, m);
  if (add)
    read_sums(m.sums, d, kRows, p.columns, p.d);
  else
    std::fill_n(m.sums, std::size_t{kRows} * p.columns, 0.0f);
  add_products(m.sums, m.a, m.b, kRows, p.columns, depth);
  write_sums(d, m.sums, kRows, p.columns, p.d);
}

void multiply_integers(const WarpgroupProduct& p, const WarpgroupTiles& tiles, bool add, std::uint32_t* d) {
  Dense<std::int32_t>& m = dense<std::int32_t>();
  const std::size_t count = std::size_t{kRows} * p.columns;
  std::fill_n(m.sums, count, 0);
  if (p.a == ScalarType::b1) {
    add_bit_counts(m.sums, reinterpret_cast<const std::uint32_t*>(tiles.a),
                   reinterpret_cast<const std::uint32_t*>(tiles.b), kRows, p.columns, kWarpgroupDepthBytes / 4, true);
  } else {
    make_dense(p, tiles, kWarpgroupDepthBytes, m);
    add_products(m.sums, m.a, m.b, kRows, p.columns, kWarpgroupDepthBytes);
  }
  if (add) {
    read_sums(m.linear, d, kRows, p.columns, p.d);
    add_integers(m.sums, m.linear, count, p.has(kWarpgroupSaturate));
  }
  write_sums(d, m.sums, kRows, p.columns, p.d);
}

}  // namespace

void warpgroup_rows(const std::uint32_t* planes, std::uint8_t* rows) {
  constexpr unsigned kWords = kWarpgroupDepthBytes / 4;
  for (unsigned row = 0; row < kRows; ++row)
    for (unsigned w = 0; w < kWords; ++w) {
      const unsigned lane = row % 8 * 4 + w % 4, plane = w / 4 * 2 + row / 8;
      std::memcpy(rows + (std::size_t{row} * kWords + w) * 4, planes + std::size_t{plane} * kWarpSize + lane, 4);
    }
}

void multiply_warpgroup(const WarpgroupProduct& p, const WarpgroupTiles& tiles, bool add, std::uint32_t* d) {
  if (p.d == ScalarType::s32)
    multiply_integers(p, tiles, add, d);
  else
    multiply_floats(p, tiles, add, d);
}

}  // namespace warpgrind::jit
