// One thread's tcgen05.mma: its form, its operands, and the places of sparse elements.
#pragma once

#include <cstdint>

#include "device/calls/tensor_memory.h"
#include "jit/calls/tensor_product.h"

namespace warpgrind::device {

// Operands of one thread's tcgen05.mma, in the order of the planes that machine code writes.
enum MmaOperand : unsigned { kSums, kLeft, kRight, kDescriptor, kMetadata, kScaleA, kScaleB, kColumnMask, kLaneMask };

struct MmaCall : TensorCall {
  jit::TensorForm form;
  jit::TensorProduct product;
  const std::uint64_t* operands;
  bool add;
  std::uint64_t operand(unsigned k) const { return operands[std::size_t{k} * kWarpSize + lane]; }
  std::uint32_t address(unsigned k) const { return static_cast<std::uint32_t>(operand(k)); }
};

inline constexpr unsigned kAllQuarters = (1u << TensorMemory::kQuarters) - 1;

// For each stored element of A, row by row: its place in the whole row (tcgen05.mma.sp).
struct SparsePlaces {
  static constexpr unsigned kMost = 128 * 64;
  std::uint8_t of[kMost];
  bool is_zero[kMost];  // the stored element; filled before read_metadata()
};
// Raises a fault where the metadata are no index and the elements are not all zero. CUTLASS's compressor writes 0b0000,
// which the manual calls undefined, for a group of zeros. `group`: of lanes of D, each of which has its own metadata.
void read_metadata(const MmaCall& call, TensorMemory& memory, const jit::TensorLayout& layout, unsigned group,
                   SparsePlaces& places);
// Multiplies the elements of A and B by their scale factors.
void scale_factors(const MmaCall& call, TensorMemory& memory, const jit::TensorLayout& layout,
                   jit::TensorFactors<double>& m);

}  // namespace warpgrind::device
