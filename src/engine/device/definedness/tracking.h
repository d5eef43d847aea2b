// Tracking of undefined bits (memory/shadow_memory.h) outside machine code: shadows of blocks and warps, and of
// accesses that machine code does not perform itself. It also publishes uses of undefined bits with their origin.
#pragma once

#include <cstdint>
#include <vector>

#include "device/access/access.h"

namespace warpgrind::device {

// Loads of undefined bits by a warp, the last one of each site. They show where a value came from.
struct UndefinedLoad {
  std::uint32_t site = 0;
  StateSpace space = StateSpace::global;
  std::uint64_t address = 0;  // of the first such byte; shared and local memory: an offset
  std::uint64_t host = 0;     // host address of that byte
};
struct UndefinedLoads {
  std::vector<UndefinedLoad> of;
};

// Mark as unwritten: shared memory of a block that begins, local memory of a warp that starts.
void forget_shared(const Block& block, std::uint64_t bytes);
void forget_local(WarpFiber& fiber);

// Call before pass() of an atomic operation, which marks its memory as defined. The operation uses the old value,
// unless it is an exchange.
void check_update(const Access& access, bool uses_old);

}  // namespace warpgrind::device
