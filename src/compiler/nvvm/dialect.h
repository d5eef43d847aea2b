// Differences between NVVM IR and LLVM's IR for NVPTX (NVVM IR Specification 2.0).
#pragma once

#include <string>

#include "nvvm/options.h"

namespace warpgrind::nvvm {

// The text with names of our own instead of the intrinsics that LLVM lacks, and with as much debug information as the
// options ask for.
std::string without_dialect(std::string text, const Options& options);

// A module that defines those names.
std::string dialect_module(const Options& options);

}  // namespace warpgrind::nvvm
