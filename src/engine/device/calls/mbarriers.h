// Operations on mbarriers, for the copies that signal them (async_copy.cpp).
#pragma once

#include "device/access/access.h"

namespace warpgrind::device {

// Whether time passes (let_time_pass) before a phase ends. as_on_a_gpu: before ends of copies, and of arrivals at other
// blocks.
enum class TimePasses : std::uint8_t { as_on_a_gpu, no };

// `barriers`: generic addresses of the lanes. `out`: the state before, or for waits 1 if the phase is over.
void operate(jit::WarpContext& w, std::uint32_t site, events::MBarrierOperation op, const std::uint64_t* barriers,
             const std::uint64_t* number, const std::uint64_t* expect, LaneMask mask, std::uint64_t* out,
             TimePasses before_ends = TimePasses::as_on_a_gpu);
// Completes transaction bytes of each lane.
void complete_bytes(jit::WarpContext& w, std::uint32_t site, const std::uint64_t* barriers, const std::uint32_t* bytes,
                    LaneMask mask);
// Whether the warp's last wait found a phase incomplete that is complete now.
bool may_end_its_wait(const WarpFiber& fiber);

}  // namespace warpgrind::device
