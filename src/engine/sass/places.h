// Places of the memory accesses of a block, as far as ptxas can tell them apart. A load may move above an earlier store
// of its thread if both have the same base and do not overlap.
#pragma once

#include <vector>

#include "flow/definitions.h"
#include "sass/code.h"

namespace warpgrind::sass {

// Sets Instruction::place. Runs after merge_accesses().
void find_places(Code& code, const ptx::Module& module, const std::vector<flow::Definitions>& bodies);

// Whether two accesses to the same memory may touch the same bytes.
bool may_overlap(const Instruction& a, const Instruction& b);

}  // namespace warpgrind::sass
