// Descriptors of tcgen05 (PTX ISA, "Instruction descriptor", "Shared memory descriptor" and "Zero-Column Mask
// Descriptor"), decoded and checked. Results are by the manual; no hardware has confirmed them.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>

namespace warpgrind::jit {

enum class TensorKind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

// Types of the elements of A, B and D.
enum class TensorElement : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, u8, s8, f32, s32 };

enum class ScaleElement : std::uint8_t { none, ue4m3, ue8m0 };

// What the instruction says besides its descriptor. Encoded in plain integers, which are constants in machine code.
struct TensorForm {
  TensorKind kind = TensorKind::f16;
  bool pair = false;        // .cta_group::2
  bool sparse = false;      // .sp
  bool stationary = false;  // .ws
  bool a_in_tensor_memory = false;
  bool shifts_a = false;          // .ashift
  std::uint8_t scale_blocks = 0;  // scale factors per row: 1, 2 or 4 (.scale_vec::NX); 0: no .block_scale
  bool masks_lanes = false;       // disable-output-lane is given
  bool masks_columns = false;     // zero-column-mask-desc is given
  std::uint8_t scale_d = 0;       // scale-input-d

  std::uint32_t code() const;
  static TensorForm from_code(std::uint32_t code);
};

// The K of .kind::mxf4 and .kind::mxf4nvf4 on sm_103a, if the instruction descriptor says so.
inline constexpr unsigned kLongTensorDepth = 96;

// One product: D (m x n) = A (m x k) * B (k x n) + D. Scale factors are bytes of a word of tensor memory.
struct TensorProduct {
  TensorElement a = TensorElement::f16, b = TensorElement::f16, d = TensorElement::f32;
  unsigned m = 0, n = 0, k = 0;
  bool negate_a = false, negate_b = false, transpose_a = false, transpose_b = false, saturate = false;
  unsigned sparsity_selector = 0;
  ScaleElement scale = ScaleElement::none;
  unsigned scale_a_id = 0, scale_b_id = 0;
};

// Decodes `bits`. Returns what is wrong with them ("N = 12 is no multiple of 8"), or an empty text.
std::string decode_tensor_product(std::uint32_t bits, const TensorForm& form, TensorProduct& product);

// Bits of an element of A or B as it lies in shared memory: types of 4 and 6 bits have 8 with padding, except for
// .kind::mxf4 and .kind::mxf4nvf4.
unsigned tensor_element_bits(TensorElement element, TensorKind kind);

// A matrix in shared memory. It consists of pieces of 16 bytes, each contiguous in every layout.
struct MatrixDescriptor {
  enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128, bytes_128_by_32 };
  static constexpr unsigned kPiece = 16;

  std::uint64_t start = 0, leading = 0, stride = 0;  // bytes
  unsigned base = 0;                                 // of the swizzling pattern, in lines of 128 bytes
  Swizzle swizzle = Swizzle::none;
  // `leading` is the address of the lines' second part, which follows where a line of 128 bytes ends (sm_103a).
  bool absolute = false;

  // Returns what is wrong with the bits, or an empty text.
  std::string decode(std::uint64_t bits);
  // Pieces from `start` to the end of the swizzled line.
  unsigned pieces_of_line() const;
  // Address of piece `p` of a row of A or column of B (K-major).
  std::uint64_t of_line(unsigned line, unsigned p) const;
  // Address of the piece that holds rows of A or columns of B from group * (16 bytes of elements) on, at one depth
  // (MN-major).
  std::uint64_t of_depth(unsigned group, unsigned depth) const;

 private:
  std::uint64_t swizzled(std::uint64_t address) const;
};

// Columns of B that count as zeroes (bits that are 1), and the number of columns by which B is shifted.
struct ColumnMask {
  std::bitset<256> zeroes;
  unsigned shift = 0;
};
ColumnMask decode_column_mask(std::uint64_t bits, unsigned m, unsigned n);

}  // namespace warpgrind::jit
