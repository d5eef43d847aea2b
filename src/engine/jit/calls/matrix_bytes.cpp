#include "jit/calls/matrix_bytes.h"

#include <algorithm>
#include <cstring>

#include "gpu/types.h"
#include "jit/calls/tensor_product.h"

namespace warpgrind::jit {

namespace {

constexpr unsigned kRowBytes = 16, kWordBytes = 4;

// Where an element of a row is in the fragment of its matrix.
struct BytePlace {
  unsigned plane, lane, byte;
};

BytePlace place_of(ByteMatrices::Shape shape, unsigned row, unsigned element) {
  switch (shape) {
    case ByteMatrices::Shape::m8n16:  // four elements of a row in each lane
      return {0, row * 4 + element / 4, element % 4};
    case ByteMatrices::Shape::m16n16:  // four elements of a column, and of the one eight columns on
      return {element / 8, element % 8 * 4 + row / 4, row % 4};
    case ByteMatrices::Shape::m16n8:  // the layout of D of mma.m16n8, and rows are its columns
      return {0, element % 8 * 4 + row / 2, element / 8 * 2 + row % 2};
  }
  return {};
}

}  // namespace

void move_byte_matrices(std::uint32_t code, std::uint32_t* rows, std::uint32_t* registers) {
  const ByteMatrices form = ByteMatrices::from_code(code);
  const bool to_rows = form.shape == ByteMatrices::Shape::m16n8;
  const unsigned planes = form.registers() / form.count;
  if (!to_rows) std::fill_n(registers, form.registers() * kWarpSize, 0u);
  for (unsigned j = 0; j < form.count; ++j)
    for (unsigned row = 0; row < form.rows(); ++row) {
      std::uint32_t* const first = rows + j * form.rows() + row;
      std::uint32_t words[kRowBytes / kWordBytes] = {};
      std::uint8_t bytes[kRowBytes];
      if (!to_rows)
        for (unsigned w = 0; w < std::size(words); ++w) words[w] = first[w * kWarpSize];
      std::memcpy(bytes, words, sizeof bytes);
      for (unsigned e = 0; e < kRowBytes; ++e) {
        const BytePlace at = place_of(form.shape, row, e);
        std::uint32_t& word = registers[(j * planes + at.plane) * kWarpSize + at.lane];
        if (to_rows)
          words[e / kWordBytes] |= (word >> 8 * at.byte & 255) << 8 * (e % kWordBytes);
        else
          word |= packed_element(bytes, e, form.element_bits) << 8 * at.byte;
      }
      if (to_rows)
        for (unsigned w = 0; w < std::size(words); ++w) first[w * kWarpSize] = words[w];
    }
}

}  // namespace warpgrind::jit
