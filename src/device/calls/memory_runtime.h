// Shared by the careful path (memory_access.cpp) and the functions machine code calls (memory_runtime.cpp).
#pragma once

#include <cstdint>

#include "device/execution/state.h"

namespace warpgrind::device {

// One warp instruction that accesses memory.
struct AccessSite {
  jit::WarpContext* context;
  std::uint32_t site;
  unsigned bytes, element, count;  // bytes = element * count a lane
  AccessType type;
  bool write;
};
AccessSite site_access(jit::WarpContext& context, std::uint32_t site, bool write);

struct SpaceMasks {
  LaneMask global = 0, shared = 0, local = 0;
};
SpaceMasks split_spaces(const std::uint64_t* addresses, LaneMask mask);  // generic addresses

// Checks, counts, reports and does the access. `space` as written; values[e*32 + l].
void access_lanes(const AccessSite& a, StateSpace space, const std::uint64_t* addresses, LaneMask mask, void* values);
// Local memory, already checked; offsets in the thread's memory.
void move_local(const AccessSite& a, const std::uint64_t* offsets, LaneMask mask, void* values);
void observe_access(const AccessSite& a, StateSpace space, const std::uint64_t* addresses, LaneMask mask);
bool find_allocation(const Launch& launch, std::uint64_t address, Range* range);

}  // namespace warpgrind::device
