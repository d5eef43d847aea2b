// Loops that ptxas unrolls by itself: short ones of a single block whose counter goes in constant steps to a constant
// end. Four rounds follow each other, then two, then single ones; a few rounds in all leave no loop.
#pragma once

#include <vector>

#include "events/site.h"
#include "flow/definitions.h"
#include "machine/code.h"

namespace warpgrind::machine {

// After select_instructions(). Sets Block::unrolled and Instruction::of_loop.
void unroll_loops(Code& code, const events::KernelFacts& facts, const std::vector<flow::Definitions>& bodies);

}  // namespace warpgrind::machine
