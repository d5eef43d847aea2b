// Copies from shared to tensor memory, and shifts of lanes there: tcgen05.cp and tcgen05.shift. They are made when they
// are issued.
#include "jit/calls/tensor_memory_copy.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "base/per_thread.h"
#include "device/calls/tensor_memory.h"
#include "device/calls/tensor_operands.h"
#include "device/symbols.h"
#include "jit/calls/tensor_product.h"

namespace warpgrind::device {

namespace {

using jit::MatrixDescriptor;

constexpr unsigned kCopiedPiece = MatrixDescriptor::kPiece;

struct CopiedRows {
  std::uint8_t bytes[TensorMemory::kLanes * 2 * kCopiedPiece];
};

void copy_to_tensor(const TensorCall& call, const jit::TensorMemoryCopy& form, std::uint32_t address,
                    std::uint64_t bits) {
  MatrixDescriptor d;
  std::string problem = d.decode(bits);
  if (problem.empty() && d.swizzle == MatrixDescriptor::Swizzle::bytes_128_by_32)
    problem = "128-byte swizzling with atoms of 32 bytes is for tcgen05.mma only";
  if (problem.empty() && d.absolute) problem = "the absolute address mode (bit 52) is for tcgen05.mma only";
  if (!problem.empty()) {
    problem.insert(0, "tcgen05.cp: ");
    call.fail(FaultKind::illegal_instruction, std::move(problem));
  }
  const TensorBlocks blocks = tensor_blocks(call, form.pair);
  const unsigned first = tensor_column(address), lane = tensor_lane(address);
  if (lane != 0 && !(form.rows == 4 && lane < TensorMemory::kQuarterLanes))
    call.fail(FaultKind::tensor_memory, fmt::format("tcgen05.cp to lane {} of tensor memory", lane),
              form.rows == 4 ? "the address names one of the first 32 lanes" : "the copy begins at lane 0");
  const unsigned columns = form.pieces * 4;
  CopiedRows& rows = per_thread<CopiedRows>();
  TensorReader reader(call);
  for (unsigned half = 0; half < blocks.count; ++half) {
    Block& block = *blocks.of[half];
    TensorMemory& memory = tensor_memory(call, block, form.pair);
    check_columns(call, memory, first, columns);
    report_hazard(call, memory.write({first, columns, 0xf}, call.thread(), call.site), false);
    reader.read_lines(d, block, form.rows, form.pieces, rows.bytes);
    reader.flush();
    for (unsigned row = 0; row < form.rows; ++row) {
      const std::uint8_t* from = rows.bytes + std::size_t{row} * form.pieces * kCopiedPiece;
      std::uint8_t spread[2 * kCopiedPiece];
      if (form.element_bits) {
        for (unsigned p = 0; p < form.pieces; ++p)
          jit::spread_elements(spread + p * kCopiedPiece, from + p * kCopiedPiece, form.element_bits);
        from = spread;
      }
      for (unsigned to = 0; to < TensorMemory::kLanes; ++to)
        if (form.takes(to, row, lane))
          std::memcpy(memory.row(to) + first, from, std::size_t{form.pieces} * kCopiedPiece);
    }
  }
}

// The manual names the shape 31x256b: a warp's quarter of the lanes. The direction is that of .ashift.
void shift_quarter(const TensorCall& call, bool pair, std::uint32_t address) {
  const unsigned first = tensor_column(address), lane = tensor_lane(address);
  if (lane % TensorMemory::kQuarterLanes != 0 || lane >= TensorMemory::kLanes)
    call.fail(FaultKind::tensor_memory, fmt::format("tcgen05.shift of lane {} of tensor memory", lane),
              "the lane of the address must be 0, 32, 64 or 96");
  const unsigned quarter = lane / TensorMemory::kQuarterLanes;
  const TensorBlocks blocks = tensor_blocks(call, pair);
  for (unsigned half = 0; half < blocks.count; ++half) {
    TensorMemory& memory = tensor_memory(call, *blocks.of[half], pair);
    check_columns(call, memory, first, kShiftedColumns);
    const TensorMemory::Range range{first, kShiftedColumns, 1u << quarter};
    report_hazard(call, memory.read(range), true);
    report_hazard(call, memory.write(range, call.thread(), call.site), false);
    memory.shift_lanes(quarter, first, kShiftedColumns);
  }
}

}  // namespace

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

static void wg_tensor_memory_copy(void* context, std::uint32_t site, std::uint32_t code, const std::uint32_t* addresses,
                                  const std::uint64_t* descriptors, std::uint32_t mask) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const TensorCall call{&warp(context), site, static_cast<unsigned>(std::countr_zero(m)), "tcgen05.cp"};
    if (m == mask) warn_of_threads(call, mask);
    copy_to_tensor(call, jit::TensorMemoryCopy::from_code(code), addresses[call.lane], descriptors[call.lane]);
  }
}

static void wg_tensor_shift(void* context, std::uint32_t site, std::uint32_t pair, const std::uint32_t* addresses,
                            std::uint32_t mask) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const TensorCall call{&warp(context), site, static_cast<unsigned>(std::countr_zero(m)), "tcgen05.shift"};
    if (m == mask) warn_of_threads(call, mask);
    shift_quarter(call, pair != 0, addresses[call.lane]);
  }
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> tensor_memory_copy_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_tensor_memory_copy", reinterpret_cast<void*>(&wg_tensor_memory_copy)},
                                            {"wg_tensor_shift", reinterpret_cast<void*>(&wg_tensor_shift)}};
  return symbols;
}

}  // namespace warpgrind::device
