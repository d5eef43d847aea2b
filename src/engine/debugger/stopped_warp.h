// A warp that has stopped, its frames, and its lanes as expressions see them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "debugger/lane_view.h"
#include "debugger/register_sources.h"
#include "debugger/unset_registers.h"
#include "device/state.h"
#include "jit/stop_places.h"

namespace warpgrind::debugger {

// A frame of the call stack: a PTX function, or a call that was inlined there.
struct WarpFrame {
  const jit::StopFrame* frame = nullptr;
  debuginfo::CodePlace code;
  std::uint32_t inlined = 0;  // in DebugInfo::frames(code)
  debuginfo::Frame text;
  LaneMask lanes = 0;  // active at this place
};

// What values of a stopped warp are explained with.
struct Explanations {
  // Text for an address of global memory, such as the call that allocated it. Empty: nothing is known.
  std::function<std::string(std::uint64_t address)> origin;
  std::function<void(const std::string& line)> say;  // prints a line for the user
  UnsetRegisterCache unset;
  RegisterSourceCache sources;
  // Registers that the user has changed: what they came from says nothing any more.
  using RegisterKey =
      std::tuple<std::uint64_t, std::uint32_t, unsigned, std::uint32_t, ptx::RegId>;  // block ... function
  std::set<RegisterKey> set_by_user;
};

class StoppedWarp {
 public:
  // places: of the kernel that runs. `explanations` must outlive it.
  StoppedWarp(device::WarpFiber& fiber, debuginfo::DebugInfo& info, const std::vector<jit::StopPlace>& places,
              Explanations& explanations);
  Explanations& explanations() const { return explanations_; }
  device::WarpFiber& fiber() const { return fiber_; }
  debuginfo::DebugInfo& info() const { return info_; }
  const std::vector<WarpFrame>& frames() const { return frames_; }  // innermost first; empty: it has not begun
  LaneMask lanes() const { return frames_.empty() ? 0 : frames_.front().lanes; }
  Dim3 block_index() const;
  std::uint32_t warp() const { return fiber_.context.warp; }
  Dim3 thread_index(unsigned lane) const;
  // View of a lane in a frame, an index into frames(). Valid as long as the warp is stopped.
  std::unique_ptr<LaneView> lane(unsigned lane, std::uint32_t frame) const;

 private:
  device::WarpFiber& fiber_;
  debuginfo::DebugInfo& info_;
  Explanations& explanations_;
  std::vector<WarpFrame> frames_;
};

}  // namespace warpgrind::debugger
