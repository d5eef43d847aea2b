// Texture and surface references: variables of a module that the program gives a meaning to (deprecated in CUDA 12).
#pragma once

#include "cuda/driver.h"

namespace warpgrind::cuda {

// Those of a module that is unloaded. Their handles are none any more.
void forget_references(const host::LibraryHandle* module);

}  // namespace warpgrind::cuda
