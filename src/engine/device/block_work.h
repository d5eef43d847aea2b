// Notes the work of each block (events/block_work.h). Machine code counts how often each block of code ran, and the
// difference between two looks at these counts is the work in between.
#pragma once

#include <cstdint>
#include <vector>

#include "device/state.h"

namespace warpgrind::device {

// KernelRecord::weights
std::vector<std::uint32_t> work_weights(const events::KernelFacts& facts);
// KernelRecord::loop_entries
std::vector<std::vector<std::uint32_t>> loop_entries(const events::KernelFacts& facts);

// Before blocks run: decides whether their work is noted.
void begin_work(Launch& launch);

// At the end of a warp, before the end of its block. Looks at nothing if warps take turns within the block.
void note_warp(Worker& w, Block& b);
void note_block(Worker& w, Block& b);

}  // namespace warpgrind::device
