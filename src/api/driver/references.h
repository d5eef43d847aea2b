// Texture and surface references: variables of a module that the program binds to arrays or memory (deprecated in
// CUDA 12).
#pragma once

#include "driver/driver.h"

namespace warpgrind::driver {

// Destroys the references of a module that is being unloaded. Their handles become invalid.
void forget_references(const semantics::LibraryHandle* module);

}  // namespace warpgrind::driver
