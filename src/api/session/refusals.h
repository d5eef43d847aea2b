// Errors with which launches of a module's kernels would be refused, found before anything runs.
#pragma once

#include <vector>

#include "base/result.h"
#include "ptx/ast.h"

namespace warpgrind::session {

// Refusals of all kernels of the module; equal messages appear only once.
std::vector<Error> refusals(const ptx::Module& module);

}  // namespace warpgrind::session
