#include "debugger/positions.h"

#include <bit>

#include "jit/stop_registers.h"

namespace warpgrind::debugger {

device::WarpFiber* find_warp(const device::Launch& launch, std::uint64_t block, std::uint32_t warp) {
  for (const auto& worker : *launch.all_workers)
    for (const auto& fiber : worker->fibers)
      if (is_resident(*fiber, launch) && fiber->block_linear == block && fiber->context.warp == warp)
        return fiber.get();
  return nullptr;
}

namespace {

std::uint32_t depth_from(const jit::StopFrame* frame) {
  std::uint32_t out = 0;
  for (; frame; frame = frame->caller) ++out;
  return out;
}

std::uint64_t entered(const jit::StopFrame& frame) {
  return reinterpret_cast<const jit::KeptFrame&>(frame).entered;
}

}  // namespace

std::uint32_t depth_of(const device::WarpFiber& warp) {
  return depth_from(warp.context.stop_frame);
}

Call call_of(const device::WarpFiber& warp, unsigned lane, const jit::StopFrame& frame) {
  return {0, warp.block_linear, warp.context.warp, lane, depth_from(&frame), entered(frame)};
}

const jit::StopFrame* frame_of(const Call& call, const device::WarpFiber& warp) {
  if (warp.block_linear != call.block || warp.context.warp != call.warp) return nullptr;
  std::uint32_t depth = depth_of(warp);
  for (const jit::StopFrame* f = warp.context.stop_frame; f; f = f->caller, --depth)
    if (depth == call.depth) return entered(*f) == call.entered ? f : nullptr;
  return nullptr;
}

bool has_returned(const Call& call, const device::WarpFiber& warp) {
  return warp.context.steps > call.entered && !frame_of(call, warp);
}

std::string lanes_text(LaneMask lanes) {
  std::string text;
  for (unsigned lane = 0; lane < kWarpSize;) {
    if (!(lanes >> lane & 1)) {
      ++lane;
      continue;
    }
    unsigned end = lane;
    while (end + 1 < kWarpSize && (lanes >> (end + 1) & 1)) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(lane);
    if (end > lane) text += (end == lane + 1 ? ", " : "-") + std::to_string(end);
    lane = end + 1;
  }
  return text.empty() ? "none" : text;
}

std::string lanes_named(LaneMask lanes) {
  return (std::popcount(lanes) == 1 ? "lane " : "lanes ") + lanes_text(lanes);
}

}  // namespace warpgrind::debugger
