// Arithmetic of tcgen05.mma for one block, and the place of each element in tensor memory (PTX ISA, "Data Path Layout
// Organization"). Results are by the manual; no hardware has confirmed them. The order of sums is ours: f32, in the
// order of depth.
#pragma once

#include <cstdint>

#include "jit/calls/tensor_descriptor.h"

namespace warpgrind::jit {

// Place of an element of D in the tensor memory of one block, from the matrix's own address.
struct TensorPlace {
  unsigned lane = 0, column = 0;
};

// Rows of D that one block computes, and where they are.
struct TensorLayout {
  unsigned rows = 0, columns = 0;
  unsigned across = 1;         // groups of columns that lie in different lanes
  unsigned lanes_apart = 0;    // of these groups
  bool half_quarters = false;  // only 16 lanes of each warp's 32 are used
  unsigned lanes_of_group() const { return half_quarters ? 2 * rows : rows; }
  TensorPlace place(unsigned row, unsigned column) const {
    const unsigned width = columns / across;
    const unsigned lane = half_quarters ? row / 16 * 32 + row % 16 : row;
    return {lane + column / width * lanes_apart, column % width};
  }
  unsigned width() const { return columns / across; }  // columns of tensor memory
};
TensorLayout tensor_layout(const TensorForm& form, const TensorProduct& product);

// Factors and sums of one block, by rows of A and columns of B. `Number`: float, double (block scaling) or int32.
template <class Number>
struct TensorFactors {
  static constexpr unsigned kRows = 128, kColumns = 256, kDepth = 128;
  Number a[kRows * kDepth];     // row by row
  Number b[kDepth * kColumns];  // by depth: columns side by side
  Number linear[kDepth * kColumns];
  Number sums[kRows * kColumns];  // row by row
};

// Converts `count` elements from the form in which they lie in memory, first bits first. Elements of 4 and 6 bits
// lie in pieces of 16 bytes with 16 elements and padding (`packed`), or in a byte each; those of .kind::mxf4 and
// .kind::mxf4nvf4 lie two in a byte.
void unpack_tensor(float* out, const std::uint8_t* in, unsigned count, TensorElement type, TensorKind kind,
                   bool packed);
void unpack_tensor(double* out, const std::uint8_t* in, unsigned count, TensorElement type, TensorKind kind,
                   bool packed);
void unpack_tensor(std::int32_t* out, const std::uint8_t* in, unsigned count, TensorElement type, TensorKind kind,
                   bool packed);

// Element `i` of 16 of `bits` each that lie side by side in a piece of 16 bytes.
unsigned packed_element(const std::uint8_t* piece, unsigned i, unsigned bits);

// Copies 16 elements of `bits` (4 or 6) from a padded piece of 16 bytes to one byte each (tcgen05.cp.b8x16).
void spread_elements(std::uint8_t* out, const std::uint8_t* in, unsigned bits);

double scale_factor(std::uint8_t bits, ScaleElement type);

// Sums of one block: sums = a * b + sums.
void multiply_tensor(TensorFactors<float>& m, unsigned rows, unsigned columns, unsigned depth);
void multiply_tensor(TensorFactors<double>& m, unsigned rows, unsigned columns, unsigned depth);
void multiply_tensor(TensorFactors<std::int32_t>& m, unsigned rows, unsigned columns, unsigned depth, bool saturate);

// A word of tensor memory as an element of D, and back.
float tensor_sum(std::uint32_t word, TensorElement type);
std::uint32_t tensor_word(float sum, TensorElement type);

}  // namespace warpgrind::jit
