// Core files on the command line: which run writes one, and what the debugger opens.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"

namespace warpgrind::cli {

// Sets the options of a run that writes a core file at a fault, because of --core or of CUDA's variables. Nothing
// changes if neither is there. Error: another option needs a run of another kind.
Status prepare_core(RunCommand& command);

// Text for the user: where the core file comes from, and its fault. Error: it is none, or damaged.
Result<std::string> describe_core(const std::string& path);
// The program and arguments that run the launch of the core file again.
std::vector<std::string> core_program(const std::string& path);
// Sets that program, and the options of the virtual GPU that the file names.
Status open_core(const std::string& path, RunCommand& command);

}  // namespace warpgrind::cli
