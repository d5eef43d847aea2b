// The process that runs the launch of a core file again, for the debugger.
#pragma once

#include <string>

namespace warpgrind::cli {

// arguments: main()'s, with which the process starts again if its own code is where the core's memory must be.
int play_core(const std::string& path, char** arguments);

}  // namespace warpgrind::cli
