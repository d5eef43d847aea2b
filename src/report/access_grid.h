// One request drawn in text: its 32 lanes in the 128-byte lines of memory, or in the banks of shared memory. A lane is
// one character: 0 to 9, then a to v.
#pragma once

#include <string>

#include "gpu/gpu_model.h"
#include "report/terminal.h"
#include "results/detail.h"

namespace warpgrind::report {

// Rows of 32 cells; a cell is 4 bytes (less where the lanes access less). "." is moved but not asked for, "#" asked for
// by several lanes, a blank not moved.
std::string memory_grid(const results::AccessPattern& pattern, const GpuModel& model, const TextOptions& options);

// Rows of one word a bank, and how many words each bank must give one after the other.
std::string bank_grid(const results::AccessPattern& pattern, const GpuModel& model, const TextOptions& options);

// "lane k: base + 4 k, side by side", "one address for all lanes", "2 runs of 16 lanes side by side", ...
std::string shape_of(const results::AccessPattern& pattern);

}  // namespace warpgrind::report
