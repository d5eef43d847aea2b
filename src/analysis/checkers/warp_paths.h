// Analysis of the code around a `.sync` operation of a warp, to judge lanes that do not execute it.
#pragma once

#include <cstdint>
#include <functional>

#include "checkers/lane_values.h"
#include "gpu/types.h"
#include "ptx/ast.h"

namespace warpgrind::checkers {

// Can lanes skip the instruction and then do something that other threads see (a store, an atomic, another
// synchronisation, a call)? False: lanes that skip it just leave the kernel.
bool can_be_passed_by(const ptx::Function& function, std::uint32_t instruction);

// Does every thread that executes the instruction use its first result on every path: store it, branch on it, or form
// an address from it? False also if that is uncertain: a condition, a select or a guard may discard the value.
bool result_is_used(const ptx::Function& function, std::uint32_t instruction);

// The lanes that use the result of a shuffle on every path that they can take, if the lanes `readers` get it.
// Conditions that follow from the number of the thread alone (`if (lane == 0)`) are known. Later shuffles of the lanes
// `executing`, which execute this one together, hand the result on to other lanes. place: of a lane.
LaneMask lanes_that_use_result(const ptx::Function& function, std::uint32_t instruction, LaneMask readers,
                               LaneMask executing, const std::function<LaneOfBlock(unsigned)>& place);

// The function with its body; null: the module has none of that name.
const ptx::Function* find_body(const ptx::Module& module, const std::string& name);

}  // namespace warpgrind::checkers
