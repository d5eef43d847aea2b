// Options of nvcc that only print information.
#pragma once

#include "toolchain/options.h"

namespace warpgrind::toolchain {

// --version, --help, --list-gpu-code, --list-gpu-arch. False: the command line has none of them.
bool show_information(const CommandLine& line);

}  // namespace warpgrind::toolchain
