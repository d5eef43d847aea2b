// Which row of the table of costs a PTX instruction has.
#pragma once

#include "gpu/gpu_model.h"
#include "machine/code.h"

namespace warpgrind::machine {

// Pipe, effect on memory, issue slots and latency; not the places and registers.
Instruction classify(const ptx::Instruction& instruction, const GpuModel& model);

}  // namespace warpgrind::machine
