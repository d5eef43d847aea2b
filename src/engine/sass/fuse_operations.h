// Fusion of a multiplication and the addition that uses it into one FMA. ptxas does this if neither names a rounding
// mode (PTX ISA, "fma": mul and add without .rn may be contracted).
#pragma once

#include <vector>

#include "flow/definitions.h"
#include "sass/code.h"

namespace warpgrind::sass {

// `bodies`: by index into Code::functions.
void fuse_operations(Code& code, const std::vector<flow::Definitions>& bodies);

}  // namespace warpgrind::sass
