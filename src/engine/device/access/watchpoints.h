// Watchpoints of a debugger: memory whose accesses it wants to see. The fast paths of accesses keep away from watched
// bytes, so that only accesses near them become slower.
#pragma once

#include <cstdint>
#include <vector>

#include "device/state.h"

namespace warpgrind::device {

struct Access;

// [low, high) in a space: global (constant memory included) by address; shared by offset in the memory of one block;
// local by offset in the memory of one lane.
struct Watchpoint {
  unsigned number = 0;
  StateSpace space = StateSpace::global;
  std::uint64_t low = 0, high = 0;
  std::uint64_t block = 0;  // linear; shared and local
  std::uint32_t warp = 0;   // local
  unsigned lane = 0;        // local
  bool reads = false, writes = true;
};

struct Watchpoints {
  std::vector<Watchpoint> all;
  // Shrinks the window [*low, *high) of a space, which holds the bytes [first, end), so that it holds no watched byte.
  // False: a watched byte is among them.
  bool cut(StateSpace space, std::uint64_t first, std::uint64_t end, std::uint64_t* low, std::uint64_t* high) const;
};

// Replaces the watchpoints of a launch that runs; `watch` outlives it. Null: none.
void set_watchpoints(Launch& launch, const Watchpoints* watch);
// Shows the lanes of a passed access that touch watched bytes to the debugger, before the data is moved.
void show_watched(const Access& access);

}  // namespace warpgrind::device
