// Operations on mbarriers, for the copies that signal them (async_copy.cpp).
#pragma once

#include "device/access/access.h"

namespace warpgrind::device {

// takes_time: the operation is the end of a copy or product that the warp has issued.
enum class Completion : std::uint8_t { at_once, takes_time };

// `barriers`: generic addresses of the lanes. `out`: the state before, or for waits 1 if the phase is over.
void operate(jit::WarpContext& w, std::uint32_t site, events::MBarrierOperation op, const std::uint64_t* barriers,
             const std::uint64_t* number, const std::uint64_t* expect, LaneMask mask, std::uint64_t* out,
             Completion completion = Completion::at_once);
// Completes transaction bytes of each lane.
void complete_bytes(jit::WarpContext& w, std::uint32_t site, const std::uint64_t* barriers, const std::uint32_t* bytes,
                    LaneMask mask);
// Whether the warp's last wait found a phase incomplete that is complete now.
bool may_end_its_wait(const WarpFiber& fiber);

}  // namespace warpgrind::device
