// What a launch would refuse, known before anything runs.
#pragma once

#include <vector>

#include "base/result.h"
#include "ptx/ast.h"

namespace warpgrind::session {

// For all kernels of a module, each once.
std::vector<Error> refusals(const ptx::Module& module);

}  // namespace warpgrind::session
