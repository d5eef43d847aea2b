// Unrolling of loops, as ptxas does without a pragma: short single-block loops whose counter goes in constant steps to
// a constant end. ptxas places four iterations in a row, then two, then single ones. A loop of few iterations
// disappears.
#pragma once

#include <vector>

#include "events/site.h"
#include "flow/definitions.h"
#include "sass/code.h"

namespace warpgrind::sass {

// Call after select_instructions(). Sets Block::unrolled and Instruction::of_loop.
void unroll_loops(Code& code, const events::KernelFacts& facts, const std::vector<flow::Definitions>& bodies);

}  // namespace warpgrind::sass
