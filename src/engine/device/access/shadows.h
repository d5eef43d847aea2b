// Shadows of the bytes of an access: where they lie in global, shared and local memory. They exist only if undefined
// bits are tracked (memory/shadow_memory.h).
#pragma once

#include <bit>
#include <cstdint>

#include "device/access/access.h"
#include "device/memory/shadow_memory.h"

namespace warpgrind::device {

// Location of the shadow of one lane's bytes: contiguous, or in words of local memory.
struct LaneShadow {
  std::uint8_t* at = nullptr;  // null: no shadow, all bits are defined
  unsigned word_stride = 4;    // distance between words

  std::uint8_t* byte(std::uint64_t k, std::uint64_t offset) const {
    if (word_stride == 4) return at + k;
    const std::uint64_t from = offset % 4 + k;
    return at - offset % 4 + from / 4 * word_stride + from % 4;
  }
};

inline LaneShadow shadow_of(jit::WarpContext& c, StateSpace space, std::uint64_t address, std::uint64_t bytes,
                            unsigned lane) {
  switch (space) {
    case StateSpace::shared:
      if ((address >= c.shared_size || bytes > c.shared_size - address) && !in_cluster(c, address, bytes)) return {};
      // Modulo 2^64: shared memory of another block of the cluster may lie before that of this one.
      return {reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(c.shared) + address + c.shared_shadow)};
    case StateSpace::local:
      if (address >= c.local_size || bytes > c.local_size - address) return {};
      return {c.local + (address / 4 * kWarpSize + lane) * 4 + address % 4 + c.local_shadow, 4 * kWarpSize};
    default: {
      const ShadowMemory& shadow = *launch_of(c).shadow;
      return {shadow.covers(address, bytes) ? shadow.of(address) : nullptr};
    }
  }
}

// Calls f(lane, shadow of its bytes) for the lanes that have a shadow; for shared and global memory, where it is
// contiguous.
template <class F>
void each_shadow(const Access& a, F&& f) {
  jit::WarpContext& c = *a.context;
  const bool shared = a.form.space == StateSpace::shared;
  const ShadowMemory& global = *launch_of(c).shadow;
  std::uint8_t* const own = c.shared + c.shared_shadow;
  const std::uint64_t size = c.shared_size;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t at = a.addresses[lane], bytes = a.bytes_of(lane);
    if (!shared) {
      if (global.covers(at, bytes)) f(lane, global.of(at));
    } else if ((at < size && bytes <= size - at) || in_cluster(c, at, bytes)) {
      f(lane, own + static_cast<std::ptrdiff_t>(at));  // negative: memory of a lower block of the cluster
    }
  }
}

// Marks the bytes of an access as written.
void define(const Access& access);

}  // namespace warpgrind::device
