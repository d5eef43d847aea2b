// What NVVM IR has that LLVM's IR for NVPTX has not (NVVM IR Specification 2.0).
#pragma once

#include <string>

#include "nvvm/options.h"

namespace warpgrind::nvvm {

// The text with names of our own instead of intrinsics that LLVM does not know, and with as much debug information as
// the options ask for.
std::string without_dialect(std::string text, const Options& options);

// A module that defines those names.
std::string dialect_module(const Options& options);

}  // namespace warpgrind::nvvm
