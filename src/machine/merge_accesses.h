// Neighbouring loads and stores of a piece of straight code become wider ones, and what is in a register already is not
// loaded again: what ptxas does where the alignment is sure and nothing between may touch the same memory.
#pragma once

#include <vector>

#include "flow/definitions.h"
#include "machine/code.h"

namespace warpgrind::machine {

// `bodies`: by index into Code::functions.
void merge_accesses(Code& code, const ptx::Module& module, const std::vector<flow::Definitions>& bodies);

}  // namespace warpgrind::machine
