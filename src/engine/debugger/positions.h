// Points in the execution of a launch, and the calls that are active there.
#pragma once

#include <cstdint>
#include <string>

#include "device/state.h"
#include "gpu/types.h"

namespace warpgrind::debugger {

// A point in the execution of a launch.
struct Position {
  std::uint64_t block = 0;  // linear
  std::uint32_t warp = 0;
  std::uint64_t steps = 0;  // places passed by the warp
  friend bool operator==(const Position&, const Position&) = default;
};

inline Position position_of(const device::WarpFiber& f) {
  return {f.block_linear, f.context.warp, f.context.steps};
}

inline bool same_warp(const Position& a, const Position& b) {
  return a.block == b.block && a.warp == b.warp;
}

inline bool is_resident(const device::WarpFiber& f, const device::Launch& launch) {
  return f.block && f.launch == launch.serial && f.state != device::WarpState::idle;
}

// The resident warp; null: it has not begun, or has ended.
device::WarpFiber* find_warp(const device::Launch& launch, std::uint64_t block, std::uint32_t warp);

// One call of a PTX function in one thread. The same in all runs of its launch.
struct Call {
  std::uint64_t launch = 0;  // as Debugger::launch_number()
  std::uint64_t block = 0;   // linear
  std::uint32_t warp = 0;
  unsigned lane = 0;
  std::uint32_t depth = 0;    // of its frame; 1: the kernel
  std::uint64_t entered = 0;  // places that the warp had passed then
};

Call call_of(const device::WarpFiber& warp, unsigned lane, const jit::StopFrame& frame);
std::uint32_t depth_of(const device::WarpFiber& warp);  // frames; 0: it has not begun
// The frame of the call; null: the warp is not in it. `launch` of the call is not compared.
const jit::StopFrame* frame_of(const Call& call, const device::WarpFiber& warp);
// The warp has returned from the call, as far as its frames show.
bool has_returned(const Call& call, const device::WarpFiber& warp);

// "0-3, 7, 9-31"; "none"
std::string lanes_text(LaneMask lanes);
// "lane 3", "lanes 0-3, 7"
std::string lanes_named(LaneMask lanes);

}  // namespace warpgrind::debugger
