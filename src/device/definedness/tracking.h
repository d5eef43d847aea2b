// What the device does about undefined bits (shadow_memory.h) beside machine code: the shadows of blocks and warps, of
// accesses that machine code does not make itself, and the events of uses with the origin of what they use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/access/access.h"
#include "device/definedness/shadow_memory.h"
#include "jit/calls/symbols.h"

namespace warpgrind::device {

// Loads of undefined bits by a warp, the last of each site: where a value came from.
struct UndefinedLoad {
  std::uint32_t site = 0;
  StateSpace space = StateSpace::global;
  std::uint64_t address = 0;  // of the first such byte; an offset in shared and local memory
  std::uint64_t host = 0;     // where that is on the host
};
struct UndefinedLoads {
  std::vector<UndefinedLoad> of;
};

// Shared memory of a block that begins, local memory of a warp that starts.
void forget_shared(const Block& block, std::uint64_t bytes);
void forget_local(WarpFiber& fiber);

// An access writes defined bits.
void define(const Access& access);
// Before an atomic operation passes the door, behind which memory counts as defined: it uses the old value, unless it
// is an exchange.
void check_update(const Access& access, bool uses_old);

// Copies and fills of the host, before the bytes move (host_copies.cpp). Copies to the host of undefined bytes are
// events.
void follow(const ShadowMemory& shadow, const events::HostCopy& copy, const events::Audience& observers);
void follow(const ShadowMemory& shadow, const events::HostFill& fill);

std::span<const jit::CallSymbol> definedness_symbols();

}  // namespace warpgrind::device
