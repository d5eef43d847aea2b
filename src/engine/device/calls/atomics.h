// The operation of an atomic access, for instructions that pass their access themselves: surfaces, multimem.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/access/access.h"

namespace warpgrind::device {

// Replaces the value at each lane's place by that of the operation with b[l], lane by lane in ascending order, each
// atomically. skipped: bytes of the elements before this one. code: jit/atomic_operation.h; compare_and_swap also has
// c[l]. The old values go to `out` if it is not null. Returns false if the type does not have the operation.
bool update_lanes(const Access& passed, const Place& place, std::size_t skipped, LaneMask mask, std::uint32_t code,
                  const void* b, const void* c = nullptr, void* out = nullptr);

}  // namespace warpgrind::device
