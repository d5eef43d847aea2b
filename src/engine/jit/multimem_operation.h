// Encoding of a multimem instruction in one 32-bit code, between machine code and the device (wg_multimem).
#pragma once

#include <cstdint>

#include "jit/atomic_operation.h"

namespace warpgrind::jit {

enum class MultimemKind : std::uint8_t { load_reduce, store, reduce };
// Precision of sums of a load: that of the type, or a wider one (.acc::f32, .acc::f16).
enum class Accumulation : std::uint8_t { same, f16, f32 };

struct MultimemCall {
  MultimemKind kind = MultimemKind::store;
  AtomicOperation operation = AtomicOperation::add;
  ptx::ScalarType type = ptx::ScalarType::b32;  // as written
  Accumulation accumulation = Accumulation::same;

  std::uint32_t encode() const {
    return atomic_code(operation, type) | static_cast<std::uint32_t>(kind) << 20 |
           static_cast<std::uint32_t>(accumulation) << 24;
  }
  static MultimemCall decode(std::uint32_t code) {
    return {static_cast<MultimemKind>(code >> 20 & 15), static_cast<AtomicOperation>(code & 0xff),
            static_cast<ptx::ScalarType>(code >> 8 & 0xff), static_cast<Accumulation>(code >> 24 & 3)};
  }
};

}  // namespace warpgrind::jit
