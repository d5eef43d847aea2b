// nvcc's options that only show something.
#pragma once

#include "toolchain/options.h"

namespace warpgrind::toolchain {

// --version, --help, --list-gpu-code, --list-gpu-arch. False: none of them was given.
bool show_information(const CommandLine& line);

}  // namespace warpgrind::toolchain
