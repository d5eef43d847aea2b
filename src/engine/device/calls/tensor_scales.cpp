// Scale factors of block-scaled tcgen05.mma (PTX ISA, "Scale Factor A ID"; the places are those of CUTLASS's
// fragments). Not held against hardware.
#include "device/calls/tensor_mma.h"

namespace warpgrind::device {

namespace {

using jit::TensorLayout;

constexpr unsigned kWordFactors = 4;  // bytes of a word of tensor memory

constexpr unsigned columns_of(unsigned lines) {
  return (lines + TensorMemory::kQuarterLanes - 1) / TensorMemory::kQuarterLanes;
}

// The factors of one matrix. Factor s of row (column) i is byte (id + s) % 4 of the word at lane i % 32 of the quarter
// that computes with it, i / 32 columns from the matrix's address; after four factors, `apart` columns on.
struct FactorPlaces {
  unsigned first, id, apart;
};

FactorPlaces places_of(const MmaCall& call, TensorMemory& memory, unsigned operand, unsigned id, unsigned count,
                       unsigned lines, unsigned apart) {
  const unsigned first = tensor_column(call.address(operand));
  const unsigned columns = (id + count - 1) / kWordFactors * apart + columns_of(lines);
  check_columns(call, memory, first, columns);
  report_hazard(call, memory.read({first, columns, kAllQuarters}), true);
  return {first, id, apart};
}

}  // namespace

void scale_factors(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout,
                   jit::TensorFactors<double>& m) {
  const jit::TensorProduct& p = call.product;
  const bool is_long = p.k == jit::kLongTensorDepth;
  const unsigned count = is_long ? call.form.scale_blocks * 3u / 2 : call.form.scale_blocks;
  const unsigned length = p.k / count, width = layout.width();
  // With a K of 96, the factors continue behind those of 128 lines.
  constexpr unsigned kLines = 128;
  const unsigned apart_b = columns_of((p.n + kLines - 1) / kLines * kLines) / layout.across;
  const FactorPlaces of_a = places_of(call, memory, kScaleA, p.scale_a_id, count, layout.rows, columns_of(kLines));
  const FactorPlaces of_b = places_of(call, memory, kScaleB, p.scale_b_id, count, width, apart_b);
  const auto factor = [&](const FactorPlaces& places, unsigned quarter, unsigned line, unsigned s) {
    const unsigned at = places.id + s,
                   lane = quarter * TensorMemory::kQuarterLanes + line % TensorMemory::kQuarterLanes;
    const std::uint32_t word =
        memory.row(lane)[places.first + line / TensorMemory::kQuarterLanes + at / kWordFactors * places.apart];
    return jit::scale_factor(static_cast<std::uint8_t>(word >> 8 * (at % kWordFactors)), p.scale);
  };
  for (unsigned i = 0; i < layout.rows; ++i)
    for (unsigned k = 0; k < p.k; ++k) m.a[i * p.k + k] *= factor(of_a, i / TensorMemory::kQuarterLanes, i, k / length);
  for (unsigned j = 0; j < p.n; ++j) {
    const unsigned quarter = j / width * layout.lanes_apart / TensorMemory::kQuarterLanes;
    for (unsigned k = 0; k < p.k; ++k) m.b[k * p.n + j] *= factor(of_b, quarter, j % width, k / length);
  }
}

}  // namespace warpgrind::device
