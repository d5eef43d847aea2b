// Metadata of sparse matrices, and sums of products of integers with them.
#include "jit/calls/sparse_matrix.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "base/vectors.h"
#include "jit/calls/matrix_elements.h"

namespace warpgrind::jit {

using ptx::ScalarType;

namespace {

constexpr unsigned kHalfOfRows = kSparseRows / 2;

// PTX ISA, "Sparse matrix storage", held against an H200. The bits of a row in order: two for each stored element of 8
// or 16 bits, or for each stored pair of 4-bit elements; four for each tf32. Four neighbouring lanes hold the rows
// `group` and `group + 8`: in the lower and the upper half of each word, or (4- and 8-bit types) in neighbouring lanes.
struct MetadataBit {
  unsigned lane, bit;
};

MetadataBit place_of(unsigned row, unsigned bit, unsigned bits_of_row, unsigned element_bits, unsigned selector) {
  const unsigned group = row % kHalfOfRows, upper = row / kHalfOfRows;
  if (bits_of_row == 16) return {group * 4 + selector % 4, upper * 16 + bit};
  if (element_bits >= 16) return {group * 4 + selector % 2 * 2 + bit / 16, upper * 16 + bit % 16};
  if (bits_of_row == 32) return {group * 4 + selector % 2 * 2 + upper, bit};
  return {group * 4 + bit / 32 * 2 + upper, bit % 32};
}

unsigned metadata_bits(ScalarType type, unsigned stored) {
  const unsigned element_bits = matrix_element_bits(type);
  return element_bits == 32 ? stored * 4 : element_bits == 4 ? stored : stored * 2;
}

}  // namespace

unsigned sparsity_selectors(ScalarType type, unsigned stored) {
  constexpr unsigned kBitsOfRows = 64;  // that four neighbouring lanes hold of a row
  return kBitsOfRows / metadata_bits(type, stored);
}

void read_metadata(SparseDepths& to, const std::uint32_t* metadata, unsigned stored, ScalarType type,
                   unsigned selector) {
  constexpr unsigned kFirstOfPair = 0b0100, kSecondOfPair = 0b1110;
  const unsigned element_bits = matrix_element_bits(type);
  const bool words = element_bits == 32, pairs = element_bits == 4;
  const unsigned bits_of_row = metadata_bits(type, stored);
  std::uint8_t lines[kSparseRows * kMostStoredDepth];
  to.mixed = false;
  for (unsigned row = 0; row < kSparseRows; ++row)
    for (unsigned s = 0; s < stored; ++s) {
      const unsigned bit = words ? s * 4 : pairs ? s / 2 * 2 : s * 2;
      const MetadataBit at = place_of(row, bit, bits_of_row, element_bits, selector);
      const unsigned four = metadata[at.lane] >> at.bit & 15, index = four & 3;
      const unsigned depth = words ? s * 2 + index / 2 : pairs ? s / 4 * 8 + index * 2 + s % 2 : s / 2 * 4 + index;
      to.depths[row * stored + s] = static_cast<std::uint8_t>(depth);
      lines[row * stored + s] = static_cast<std::uint8_t>(s * kMixedLines + four);
      to.mixed |= words && four != kFirstOfPair && four != kSecondOfPair;
    }
  if (to.mixed) std::copy_n(lines, kSparseRows * stored, to.depths);
}

void mix_halves(float* to, const float* b, unsigned columns, unsigned pairs) {
  constexpr std::uint32_t kBitsOfTf32 = 0xffffe000;
  for (unsigned p = 0; p < pairs; ++p)
    for (unsigned four = 0; four < kMixedLines; ++four)
      for (unsigned j = 0; j < columns; ++j) {
        const auto half = [&](unsigned index) {
          const auto word = std::bit_cast<std::uint32_t>(b[std::size_t{2 * p + index / 2} * columns + j]);
          return word >> (index % 2 * 16) & 0xffff;
        };
        to[std::size_t{p * kMixedLines + four} * columns + j] =
            std::bit_cast<float>((half(four & 3) | half(four >> 2) << 16) & kBitsOfTf32);
      }
}

void add_sparse_products(std::int32_t* sums, const std::int32_t* a, const std::int32_t* b, const std::uint8_t* depths,
                         unsigned rows, unsigned columns, unsigned depth) {
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < columns; j += avx2::kWidth) {
      std::int32_t* const at = sums + std::size_t{i} * columns + j;
      auto sum = avx2::loaded<avx2::Words>(at);
      for (unsigned k = i * depth; k < (i + 1) * depth; ++k)
        sum += static_cast<std::uint32_t>(a[k]) * avx2::loaded<avx2::Words>(b + std::size_t{depths[k]} * columns + j);
      avx2::store(sum, at);
    }
}

}  // namespace warpgrind::jit
