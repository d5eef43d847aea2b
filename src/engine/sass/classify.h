// Cost table lookup: the row of costs.inc for a PTX instruction.
#pragma once

#include "gpu/gpu_model.h"
#include "sass/code.h"

namespace warpgrind::sass {

// Sets pipe, effect on memory, issue slots and latency; leaves indexes and registers unset.
Instruction classify(const ptx::Instruction& instruction, const GpuModel& model);

}  // namespace warpgrind::sass
