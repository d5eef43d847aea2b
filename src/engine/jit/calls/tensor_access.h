// Shapes of tcgen05.ld and tcgen05.st: which cell of tensor memory each register of each lane holds (PTX ISA, "Data
// Movement Shape").
#pragma once

#include <cstdint>

namespace warpgrind::jit {

enum class TensorShape : std::uint8_t { s16x64b, s16x128b, s16x256b, s32x32b, s16x32bx2 };

struct TensorAccess {
  TensorShape shape = TensorShape::s32x32b;
  unsigned repeat = 1;      // .num: 1 to 128
  bool packs = false;       // .pack::16b, .unpack::16b: a register holds the lower halves of two columns
  std::uint32_t split = 0;  // immHalfSplitoff of .16x32bx2, in columns

  // Encoded in plain integers, which are constants in machine code.
  std::uint32_t code() const { return static_cast<std::uint32_t>(shape) | repeat << 8 | std::uint32_t{packs} << 16; }
  static TensorAccess from_code(std::uint32_t code, std::uint32_t split) {
    return {static_cast<TensorShape>(code & 255), code >> 8 & 255, (code >> 16 & 1) != 0, split};
  }

  unsigned lanes() const { return shape == TensorShape::s32x32b ? 32 : 16; }
  unsigned registers() const {
    return repeat * (shape == TensorShape::s16x256b ? 4 : shape == TensorShape::s16x128b ? 2 : 1);
  }
  // Columns of one access; .16x32bx2 makes two.
  unsigned columns() const {
    const unsigned words = shape == TensorShape::s16x64b    ? 2
                           : shape == TensorShape::s16x128b ? 4
                           : shape == TensorShape::s16x256b ? 8
                                                            : 1;
    return repeat * words * (packs ? 2 : 1);
  }

  // Register `r` of lane `t`: `column` counts registers' worth of columns, `offset` columns.
  struct At {
    unsigned lane = 0, column = 0, offset = 0;
  };
  At place(unsigned r, unsigned t) const {
    switch (shape) {
      case TensorShape::s32x32b:
        return {t, r, 0};
      case TensorShape::s16x32bx2:
        return {t % 16, r, t / 16 * split};
      case TensorShape::s16x64b:
        return {t / 4 + t % 2 * 8, 2 * r + t / 2 % 2, 0};
      case TensorShape::s16x128b:
        return {t / 4 + r % 2 * 8, r / 2 * 4 + t % 4, 0};
      case TensorShape::s16x256b:
        return {t / 4 + r / 2 % 2 * 8, r / 4 * 8 + t % 4 * 2 + r % 2, 0};
    }
    return {};
  }
};

// Reduction of tcgen05.ld.red over the registers of a lane.
struct TensorReduction {
  enum class Type : std::uint8_t { u32, s32, f32 } type = Type::u32;
  bool maximum = false, absolute = false, nan = false;
  std::uint32_t code() const {
    return static_cast<std::uint32_t>(type) | std::uint32_t{maximum} << 8 | std::uint32_t{absolute} << 9 |
           std::uint32_t{nan} << 10;
  }
  static TensorReduction from_code(std::uint32_t code) {
    return {static_cast<Type>(code & 255), (code >> 8 & 1) != 0, (code >> 9 & 1) != 0, (code >> 10 & 1) != 0};
  }
};

}  // namespace warpgrind::jit
