// What is derived once from a compiled kernel to stop in it: its places, and tables of flags that machine code reads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "debuginfo/debug_info.h"
#include "device/state.h"
#include "jit/stop_places.h"

namespace warpgrind::debugger {

using DebugInfos = std::map<const ptx::Module*, std::unique_ptr<debuginfo::DebugInfo>>;

struct KernelPlaces {
  KernelPlaces() = default;
  KernelPlaces(const device::Launch& launch, DebugInfos& infos);  // adds the module's information if it is new
  // A later kernel's record may have the same address.
  bool is_of(const device::Launch& launch) const;

  std::uint32_t entry = 0;
  debuginfo::DebugInfo* info = nullptr;
  std::vector<jit::StopPlace> places;
  std::uint32_t first = 0;                            // place at which each warp begins
  std::vector<std::uint8_t> none, only_first, every;  // flags, by place
};

}  // namespace warpgrind::debugger
