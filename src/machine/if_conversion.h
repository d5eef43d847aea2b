// Short branches as predicates: what ptxas makes of `if` with a small body.
#pragma once

#include "events/site.h"
#include "machine/code.h"

namespace warpgrind::machine {

// Joins straight pieces of code, and puts small blocks that a branch goes around under its predicate.
void convert_branches(Code& code, const events::KernelFacts& facts);

}  // namespace warpgrind::machine
