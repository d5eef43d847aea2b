// Shapes of tcgen05.cp: which lanes of tensor memory get each row of the matrix in shared memory (PTX ISA,
// "tcgen05.cp"; for .4x256b, CUTLASS's copy traits). Not held against hardware.
#pragma once

#include <cstdint>

namespace warpgrind::jit {

struct TensorMemoryCopy {
  enum class Multicast : std::uint8_t { none, warpx2_02_13, warpx2_01_23, warpx4 };
  unsigned rows = 128;
  unsigned pieces = 2;        // of 16 bytes, per row
  unsigned element_bits = 0;  // 4 or 6: elements are spread to bytes; 0: they are not
  Multicast multicast = Multicast::none;
  bool pair = false;  // .cta_group::2

  std::uint32_t code() const {
    return rows | pieces << 8 | element_bits << 12 | static_cast<std::uint32_t>(multicast) << 16 |
           std::uint32_t{pair} << 20;
  }
  static TensorMemoryCopy from_code(std::uint32_t code) {
    return {code & 255, code >> 8 & 15, code >> 12 & 15, static_cast<Multicast>(code >> 16 & 15),
            (code >> 20 & 1) != 0};
  }

  // Whether lane `lane` gets row `row`. `first`: lane of the address. Four rows go to the four quarters.
  bool takes(unsigned lane, unsigned row, unsigned first) const {
    if (rows == 4) return lane == first + 32 * row;
    switch (multicast) {
      case Multicast::none:
        return lane == row;
      case Multicast::warpx2_02_13:
        return lane % 64 == row;
      case Multicast::warpx2_01_23:
        return lane % 32 == row % 32 && lane / 64 == row / 32;
      case Multicast::warpx4:
        return lane % 32 == row;
    }
    return false;
  }
};

}  // namespace warpgrind::jit
