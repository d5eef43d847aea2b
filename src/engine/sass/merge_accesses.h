// Merging of memory accesses in straight-line code. Neighbouring loads and stores become wider ones, and a value that
// is already in a register is not loaded again. ptxas does this if the alignment is certain and no instruction between
// them may touch the same memory.
#pragma once

#include <vector>

#include "flow/definitions.h"
#include "sass/code.h"

namespace warpgrind::sass {

// `bodies`: by index into Code::functions.
void merge_accesses(Code& code, const ptx::Module& module, const std::vector<flow::Definitions>& bodies);

}  // namespace warpgrind::sass
