// Generator of object code from PTX, by LLVM.
#pragma once

#include <memory>

#include "jit/compile/backend.h"

namespace warpgrind::jit {

std::unique_ptr<Generator> make_llvm_generator();

}  // namespace warpgrind::jit
