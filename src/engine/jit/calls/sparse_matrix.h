// Sparse matrices of mma.sp and wgmma.sp. Of each group of elements of A half are stored, and metadata says which.
#pragma once

#include <cstdint>

#include "ptx/types.h"

namespace warpgrind::jit {

inline constexpr unsigned kSparseRows = 16;       // of A in one warp
inline constexpr unsigned kMostStoredDepth = 64;  // elements of a row that are stored; 4-bit types

inline constexpr unsigned kMixedLines = 16;  // of mix_halves(), for each pair of depths

// Elements of B that the stored elements of A are multiplied by, row by row of A.
struct SparseDepths {
  std::uint8_t depths[kSparseRows * kMostStoredDepth];
  // tf32 with metadata that the manual does not allow (not 0b0100 or 0b1110): the tensor core puts the factor together
  // from two 16-bit halves. `depths` are then lines of mix_halves().
  bool mixed = false;
};

// Number of values of the sparsity selector: how many groups of lanes can hold the metadata of a row.
unsigned sparsity_selectors(ptx::ScalarType type, unsigned stored);

// `metadata`: the word of each lane. `stored`: stored elements of a row. `selector`: the instruction's sparsity
// selector, which says whose metadata counts. Patterns that the manual does not allow select what their bits say, as on
// an H200.
void read_metadata(SparseDepths& to, const std::uint32_t* metadata, unsigned stored, ptx::ScalarType type,
                   unsigned selector);

// Makes kMixedLines lines of `to` for each pair of lines of `b`: one for each value of four bits of metadata. A line
// holds the tf32 that this value makes of the pair. `b` holds all 32 bits of each element.
void mix_halves(float* to, const float* b, unsigned columns, unsigned pairs);

// sums += a * b like add_products() (matrix_products.h), for integers and a sparse a of `depth` stored elements a row.
void add_sparse_products(std::int32_t* sums, const std::int32_t* a, const std::int32_t* b, const std::uint8_t* depths,
                         unsigned rows, unsigned columns, unsigned depth);

}  // namespace warpgrind::jit
