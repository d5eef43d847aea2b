// Register layouts of ldmatrix and stmatrix with elements of a byte or less: .m8n16, .m16n16 and .m16n8. Their rows in
// memory have 16 elements. Layouts are those of CUTLASS's copy traits (copy_traits_sm100.hpp); no hardware has
// confirmed them.
#pragma once

#include <cstdint>

namespace warpgrind::jit {

// Encoded in plain integers, which are constants in machine code.
struct ByteMatrices {
  enum class Shape : std::uint8_t { m8n16, m16n16, m16n8 };  // m16n16 is loaded transposed, m16n8 stored transposed
  Shape shape = Shape::m8n16;
  std::uint8_t count = 1;
  std::uint8_t element_bits = 8;  // in memory: 6 or 4 with padding behind the row's elements

  unsigned rows() const { return shape == Shape::m16n16 ? 16 : 8; }  // in memory, 16 bytes each
  unsigned registers() const { return shape == Shape::m16n16 ? 2u * count : count; }
  std::uint32_t code() const {
    return static_cast<std::uint32_t>(shape) | std::uint32_t{count} << 8 | std::uint32_t{element_bits} << 16;
  }
  static ByteMatrices from_code(std::uint32_t c) {
    return {static_cast<Shape>(c & 255), static_cast<std::uint8_t>(c >> 8), static_cast<std::uint8_t>(c >> 16)};
  }
};

// wg_matrix_bytes: moves between rows and registers, to rows for m16n8. `rows` has word w of the row whose address lane
// l gave at [w*32 + l]; `registers` has register r of lane l at [r*32 + l]. Elements of 6 and 4 bits become the lower
// bits of a byte.
void move_byte_matrices(std::uint32_t code, std::uint32_t* rows, std::uint32_t* registers);

}  // namespace warpgrind::jit
