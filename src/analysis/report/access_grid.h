// Text drawing of one request: its 32 lanes in the 128-byte lines of memory, or in the banks of shared memory. A lane
// is one character: 0 to 9, then a to v.
#pragma once

#include <string>

#include "gpu/gpu_model.h"
#include "report/terminal.h"
#include "results/detail.h"

namespace warpgrind::report {

// Rows of 32 cells. A cell is 4 bytes, or less if the lanes access less. ".": moved but not requested; "#": requested
// by several lanes; blank: not moved.
std::string memory_grid(const results::AccessPattern& pattern, const GpuModel& model, const TextOptions& options);

// Rows of one word per bank, and the number of words that each bank has to deliver one after the other.
std::string bank_grid(const results::AccessPattern& pattern, const GpuModel& model, const TextOptions& options);

// Pattern in words: "lane k: base + 4 k, side by side", "one address for all lanes", "2 runs of 16 lanes side by side".
std::string shape_of(const results::AccessPattern& pattern);

}  // namespace warpgrind::report
