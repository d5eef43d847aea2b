#include "sass/tensor_products.h"

#include <algorithm>

#include "ptx/opcode.h"

namespace warpgrind::sass {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

// Forms of other GPUs or of older ones, which were not counted on an H200.
bool is_elsewhere(const ptx::Instruction& i) {
  using ptx::Modifier;
  return i.has(Modifier::block_scale) || i.has(Modifier::kind_f8f6f4) ||
         (i.has(Modifier::m8n8k4) && i.type() != ScalarType::f64);
}

unsigned registers_of(const ptx::Operand& o) {
  return std::max(1u, static_cast<unsigned>(o.elements.size()));
}

// A warpgroup multiplies 64 rows by N columns. A depth of 32 bytes takes equally long for all types, as does the double
// depth of a sparse A. Four warps read 64 rows of A (32 bytes each) and N columns of B (twice as long beside a sparse
// A).
TensorUse of_warpgroup(const ptx::Instruction& i, bool sparse) {
  const unsigned registers = registers_of(i.operands[0]);
  constexpr unsigned kOfEightColumns = 4;
  const auto columns =
      static_cast<float>(registers * 8) / (i.type() == ScalarType::f16 ? kOfEightColumns / 2.0f : kOfEightColumns);
  TensorUse use{ptx::is_integer(i.type()) ? TensorPipe::imma : TensorPipe::hmma, true, 1, columns / 2, 0, 0};
  const bool a_in_shared = i.operands[1].elements.empty();
  use.wavefronts = columns / 16 * (sparse ? 2.0f : 1.0f) + (a_in_shared ? 4.0f : 0.0f);
  return use;
}

// The time of mma follows from the registers of A. Types that the tensor cores lack are widened: 4-bit integers
// to 8 bits, and 8-bit floats to 16 bits, in two instructions.
TensorUse of_warp(const ptx::Instruction& i, bool sparse) {
  const unsigned a = registers_of(i.operands[1]);
  const ScalarType type = i.types.size() > 1 ? i.types[1] : i.type();
  if (type == ScalarType::f64) return {TensorPipe::dmma, false, 1, std::max(16.0f, 8.0f * static_cast<float>(a)), 0, 0};
  const bool widened =
      type == ScalarType::s4 || type == ScalarType::u4 || type == ScalarType::e4m3 || type == ScalarType::e5m2;
  const float parts = widened ? 2 : 1, each = (a > 2 ? 6.0f : 4.0f) + (sparse ? 2.0f : 0.0f);
  return {ptx::is_integer(i.type()) ? TensorPipe::imma : TensorPipe::hmma, false, parts, parts * each, 0, 0};
}

// wmma is several instructions of 16 rows and 8 columns, and of depth 4 for tf32. Two types are functions of ptxas:
// 4-bit integers become 8-bit ones, and a xor b is (a and not b) + (not a and b).
TensorUse of_wmma(const ptx::Instruction& i) {
  const ScalarType type = i.types.size() >= 4 ? i.types[1] : ScalarType::f16;
  const auto use = [](TensorPipe pipe, float parts, float each, float beside = 0) {
    return TensorUse{pipe, false, parts, parts * each, beside, 0};
  };
  switch (type) {
    case ScalarType::f64:
      return use(TensorPipe::dmma, 1, 16);
    case ScalarType::tf32:
      return use(TensorPipe::hmma, 4, 4);
    case ScalarType::s8:
    case ScalarType::u8:
      return use(TensorPipe::imma, 2, 4);
    case ScalarType::b1:
      return i.has(ptx::Modifier::and_) ? use(TensorPipe::imma, 1, 4) : use(TensorPipe::imma, 2, 4, 8);
    case ScalarType::s4:
    case ScalarType::u4:
      return use(TensorPipe::imma, 2, 4, 66);
    default:
      return use(TensorPipe::hmma, 2, 6);
  }
}

}  // namespace

TensorUse tensor_use(const ptx::Instruction& i) {
  if (i.operands.size() < 3) return {};
  if (i.opcode == Opcode::wgmma_mma_async || i.opcode == Opcode::wgmma_mma_async_sp)
    return of_warpgroup(i, i.opcode == Opcode::wgmma_mma_async_sp);
  if (i.opcode == Opcode::wmma_mma) return of_wmma(i);
  const bool sparse = i.opcode == Opcode::mma_sp;
  if ((i.opcode != Opcode::mma && !sparse) || is_elsewhere(i)) return {};
  return of_warp(i, sparse);
}

float tensor_time(const TensorUse& use) {
  if (!use.group) return use.cycles;
  // Of 4096 products on each of 132 SMs, for every shape and type: the larger of both, at least 13 cycles, by clock64.
  // The clock sinks meanwhile (timing/terms/clock.cpp).
  constexpr float kLeast = 13, kWarps = 4;
  return std::max(kLeast, std::max(use.cycles, kWarps * use.wavefronts));
}

}  // namespace warpgrind::sass
