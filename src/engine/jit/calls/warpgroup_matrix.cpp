// Product of one warp's part of wgmma: unpacks A and B to dense matrices and multiplies them.
#include "jit/calls/warpgroup_matrix.h"

#include <algorithm>
#include <cstring>

#include "base/per_thread.h"
#include "gpu/types.h"
#include "jit/calls/matrix_elements.h"
#include "jit/calls/matrix_products.h"
#include "jit/calls/sparse_matrix.h"
#include "jit/calls/tensor_core_sums.h"

namespace warpgrind::jit {

namespace {

using ptx::ScalarType;

constexpr unsigned kRows = kWarpgroupRows, kMostColumns = kMostWarpgroupColumns;
constexpr unsigned kMostLines = kWarpgroupDepthBytes / 4 * kMixedLines;  // of mix_halves(): tf32
constexpr unsigned kDeepestProduct = 32;  // 8-bit elements; of B with a sparse A twice as deep

template <class T>
struct Dense {
  T a[kRows * kDeepestProduct];             // row by row
  T b[2 * kDeepestProduct * kMostColumns];  // by depth: columns side by side
  T linear[kMostLines * kMostColumns];
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
  const unsigned deep = p.has(kWarpgroupSparse) ? 2 * depth : depth;
  if (p.has(kWarpgroupBByDepth)) {
    unpack_matrix(m.b, tiles.b, p.columns * deep, p.b);
  } else {
    unpack_matrix(m.linear, tiles.b, p.columns * deep, p.b);
    transpose_columns(m.b, m.linear, p.columns, deep);
  }
  if (p.has(kWarpgroupNegateA) != p.has(kWarpgroupNegateB))
    for (unsigned i = 0; i < kRows * depth; ++i) m.a[i] = -m.a[i];
}

void multiply_floats(const WarpgroupProduct& p, const WarpgroupTiles& tiles, const SparseDepths* sparse, bool add,
                     unsigned capability, std::uint32_t* d) {
  Dense<float>& m = dense<float>();
  const unsigned depth = kWarpgroupDepthBytes * 8 / matrix_element_bits(p.a);
  const bool mixed = sparse && sparse->mixed;
  WarpgroupProduct unpacked = p;
  if (mixed) unpacked.b = ScalarType::f32;
  make_dense(unpacked, tiles, depth, m);
  if (add)
    read_sums(m.sums, d, kRows, p.columns, p.d);
  else
    std::fill_n(m.sums, std::size_t{kRows} * p.columns, 0.0f);
  TensorCoreProduct product{kRows, p.columns, depth, p.a, p.b, p.d, tensor_core_sum(p.a, depth, capability, true)};
  if (sparse) product.chosen = sparse->depths;
  if (sparse) product.depth_of_b = mixed ? depth * kMixedLines : 2 * depth;
  if (mixed) mix_halves(m.linear, m.b, p.columns, depth);
  add_on_tensor_core(m.sums, m.a, mixed ? m.linear : m.b, product);
  write_sums(d, m.sums, kRows, p.columns, p.d);
}

void multiply_integers(const WarpgroupProduct& p, const WarpgroupTiles& tiles, const SparseDepths* sparse, bool add,
                       std::uint32_t* d) {
  Dense<std::int32_t>& m = dense<std::int32_t>();
  const std::size_t count = std::size_t{kRows} * p.columns;
  std::fill_n(m.sums, count, 0);
  if (p.a == ScalarType::b1) {
    add_bit_counts(m.sums, reinterpret_cast<const std::uint32_t*>(tiles.a),
                   reinterpret_cast<const std::uint32_t*>(tiles.b), kRows, p.columns, kWarpgroupDepthBytes / 4, true);
  } else {
    make_dense(p, tiles, kWarpgroupDepthBytes, m);
    if (sparse)
      add_sparse_products(m.sums, m.a, m.b, sparse->depths, kRows, p.columns, kWarpgroupDepthBytes);
    else
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

void multiply_warpgroup(const WarpgroupProduct& p, const WarpgroupTiles& tiles, bool add, unsigned capability,
                        std::uint32_t* d) {
  static_assert(kRows == kSparseRows && kDeepestProduct <= kMostStoredDepth);
  SparseDepths depths;
  const SparseDepths* const sparse = p.has(kWarpgroupSparse) ? &depths : nullptr;
  if (sparse)
    read_metadata(depths, tiles.metadata, kWarpgroupDepthBytes * 8 / matrix_element_bits(p.a), p.a, p.selector());
  if (p.d == ScalarType::s32)
    multiply_integers(p, tiles, sparse, add, d);
  else
    multiply_floats(p, tiles, sparse, add, capability, d);
}

}  // namespace warpgrind::jit
