// Metadata of tcgen05.mma.sp: the places of the stored elements of A in tensor memory (PTX ISA, "Sparse Matrices";
// where the metadata lie, CUTLASS's fragments). Not held against hardware.
#include <fmt/format.h>

#include <algorithm>

#include "device/calls/tensor_mma.h"

namespace warpgrind::device {

namespace {

using jit::TensorKind;
using jit::TensorLayout;

// Elements of 16 or 32 bits.
bool is_wide(const MmaCall& call) {
  return call.form.kind == TensorKind::f16 || call.form.kind == TensorKind::tf32;
}

// Four bits of metadata for each group of stored elements. PTX ISA, "Sparsity selector", and CUTLASS's fragments: with
// elements of 8 bits or less, a row's 64 bits lie in two columns of its lane. With wider ones, 16 lanes hold those of
// 16 rows: the first eight lanes those of the first half of the depth, rows 8 to 15 in the upper halves of the words.
unsigned metadata_bits(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout, unsigned lanes,
                       unsigned row, unsigned group) {
  const unsigned first = tensor_column(call.address(kMetadata));
  const unsigned lane = tensor_lane(call.address(kMetadata)) + lanes * layout.lanes_apart;
  const bool wide = is_wide(call);
  constexpr unsigned kGroupsOfWord = 8, kGroupsOfHalf = 4;
  if (!wide) {
    const std::uint32_t word = memory.row(lane + layout.place(row, 0).lane)[first + group / kGroupsOfWord];
    return word >> group % kGroupsOfWord * 4 & 15;
  }
  const unsigned of_sixteen = layout.place(row / 16 * 16, 0).lane;
  const std::uint32_t word =
      memory.row(lane + of_sixteen + row % 8 + group / kGroupsOfHalf * 8)[first + call.product.sparsity_selector];
  return word >> (row % 16 / 8 * 16 + group % kGroupsOfHalf * 4) & 15;
}

bool is_index_of_two(unsigned bits) {
  static constexpr unsigned kValid[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110};
  return std::find(std::begin(kValid), std::end(kValid), bits) != std::end(kValid);
}

void check_metadata(const MmaCall& call, TensorMemory& memory) {
  const unsigned first = tensor_column(call.address(kMetadata)), lane = tensor_lane(call.address(kMetadata));
  const unsigned selector = call.product.sparsity_selector;
  const bool wide = is_wide(call);
  if (selector > (wide ? 1u : 0u))
    call.fail(FaultKind::illegal_instruction, fmt::format("tcgen05.mma.sp: sparsity selector {}", selector),
              wide ? "the selector names the first or second column of the metadata" : "with this kind it is 0");
  if (lane != tensor_lane(call.address(kSums)))
    call.fail(FaultKind::tensor_memory, fmt::format("tcgen05.mma.sp: the metadata begin at lane {}, and D at lane {}",
                                                    lane, tensor_lane(call.address(kSums))));
  check_columns(call, memory, first, 2);
  report_hazard(call, memory.read({first + selector, wide ? 1u : 2u, kAllQuarters}), true);
}

}  // namespace

void read_metadata(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout, unsigned group,
                   SparsePlaces& places) {
  check_metadata(call, memory);
  const unsigned stored = call.product.k / 2;
  const bool single = call.form.kind == TensorKind::tf32;  // one of two elements; otherwise two of four
  // Elements that stay together: pairs of 4-bit ones.
  const unsigned run = call.form.kind == TensorKind::mxf4 || call.form.kind == TensorKind::mxf4nvf4 ? 2 : 1;
  const unsigned per_group = single ? 1 : 2 * run;
  for (unsigned i = 0; i < layout.rows; ++i)
    for (unsigned g = 0; g < stored / per_group; ++g) {
      const unsigned bits = metadata_bits(call, memory, layout, group, i, g), first = g * per_group * 2;
      const std::size_t at = std::size_t{i} * stored + g * per_group;
      const bool* const zeros = places.is_zero + at;
      const bool all_zero = std::all_of(zeros, zeros + per_group, [](bool zero) { return zero; });
      if (!all_zero && (single ? bits != 0b0100 && bits != 0b1110 : !is_index_of_two(bits)))
        call.fail(
            FaultKind::tensor_memory,
            fmt::format("tcgen05.mma.sp: the metadata of row {}, elements {} to {}, are {:#06b}, which is no index", i,
                        first, first + 2 * per_group - 1, bits));
      std::uint8_t* const to = places.of + at;
      if (single) {
        to[0] = static_cast<std::uint8_t>(first + (bits == 0b1110 ? 1 : 0));
        continue;
      }
      for (unsigned e = 0; e < run; ++e) {
        to[e] = static_cast<std::uint8_t>(first + (bits & 3) * run + e);
        to[run + e] = static_cast<std::uint8_t>(first + (bits >> 2) * run + e);
      }
    }
}

}  // namespace warpgrind::device
