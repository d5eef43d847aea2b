// Memory as a debugger reads and writes it: as one lane of a stopped warp would, but checked, not counted and never a
// fault.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "device/state.h"

namespace warpgrind::device {

// In the space `generic` the windows of shared and local memory are resolved. An address in `shared` is an offset in
// the block's memory, in a cluster with the rank from bit kClusterShift. In `local` it is an offset in the lane's
// memory.
Status peek(const WarpFiber& fiber, unsigned lane, StateSpace space, std::uint64_t address,
            std::span<std::uint8_t> bytes);
Status poke(WarpFiber& fiber, unsigned lane, StateSpace space, std::uint64_t address,
            std::span<const std::uint8_t> bytes);
// Sets the bits of these bytes that were never written, in zeroed `undefined`. They are known if undefined bits are
// tracked (memory/shadow_memory.h); bytes outside all memory count as written.
void peek_undefined(const WarpFiber& fiber, unsigned lane, StateSpace space, std::uint64_t address,
                    std::span<std::uint8_t> undefined);
// Text that says where a generic address lies: "byte 16 of a 4096-byte allocation". Empty: nowhere.
std::string locate(const WarpFiber& fiber, std::uint64_t address);

}  // namespace warpgrind::device
