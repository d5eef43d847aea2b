// Errors with which launches of a module's kernels would be refused, found before anything runs.
#pragma once

#include <vector>

#include "base/result.h"
#include "ptx/ast.h"

namespace warpgrind::session {

// Of all kernels of the module; equal messages only once.
std::vector<Error> refusals(const ptx::Module& module);

}  // namespace warpgrind::session
