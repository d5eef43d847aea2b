// Check of a module after parsing or linking: every index names something. Later stages use the indices without a check
// of their own. Costs a tenth of the parsing, hence for WG_DEBUG_ASSERT.
#pragma once

#include "ptx/ast.h"

namespace warpgrind::ptx {

bool references_hold(const Module& module);

}  // namespace warpgrind::ptx
