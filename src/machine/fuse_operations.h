// A multiplication and the addition that uses it as one FMA, which ptxas makes where neither asks for a rounding
// (PTX ISA, "fma": mul and add without .rn may be contracted).
#pragma once

#include <vector>

#include "flow/definitions.h"
#include "machine/code.h"

namespace warpgrind::machine {

// `bodies`: by index into Code::functions.
void fuse_operations(Code& code, const std::vector<flow::Definitions>& bodies);

}  // namespace warpgrind::machine
