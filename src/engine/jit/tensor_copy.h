// Encoding of a tensor copy between machine code and the device (wg_tensor_copy).
#pragma once

#include <cstdint>

#include "gpu/tensor_box.h"
#include "jit/atomic_operation.h"

namespace warpgrind::jit {

struct TensorCode {
  enum class Operation : std::uint8_t { load, store, reduce, prefetch };
  Operation operation = Operation::load;
  TensorMode mode = TensorMode::tile;
  std::uint8_t rank = 1;  // as written: .2d
  AtomicOperation reduction = AtomicOperation::add;
  bool multicast = false;
  bool pair = false;  // .cta_group::2: signals an mbarrier of the pair

  constexpr std::uint32_t bits() const {
    return static_cast<std::uint32_t>(operation) | static_cast<std::uint32_t>(mode) << 4 | std::uint32_t{rank} << 8 |
           static_cast<std::uint32_t>(reduction) << 12 | std::uint32_t{multicast} << 16 | std::uint32_t{pair} << 17;
  }
  static constexpr TensorCode of(std::uint32_t bits) {
    return {static_cast<Operation>(bits & 15),
            static_cast<TensorMode>(bits >> 4 & 15),
            static_cast<std::uint8_t>(bits >> 8 & 15),
            static_cast<AtomicOperation>(bits >> 12 & 15),
            (bits >> 16 & 1) != 0,
            (bits >> 17 & 1) != 0};
  }
};

// Planes of 32 lanes of 32 bits that go with it.
inline constexpr unsigned kTensorOffsets = kMaxTensorRank;  // after the coordinates
inline constexpr unsigned kTensorMask = kTensorOffsets + 3;
inline constexpr unsigned kTensorPlanes = kTensorMask + 1;

// Fields of a tensor map in the words of tensormap.replace.
enum class TensorField : std::uint8_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  swizzle_atomicity,
  fill_mode
};

}  // namespace warpgrind::jit
