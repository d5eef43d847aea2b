// If-conversion: short branches become predicates, as ptxas does for an `if` with a small body.
#pragma once

#include <vector>

#include "events/site.h"
#include "flow/definitions.h"
#include "sass/code.h"

namespace warpgrind::sass {

// Joins straight-line blocks, and puts small blocks that a branch skips under its predicate. `bodies`: by index into
// Code::functions.
void convert_branches(Code& code, const events::KernelFacts& facts, const std::vector<flow::Definitions>& bodies);

}  // namespace warpgrind::sass
