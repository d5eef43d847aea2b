// Replacement of NVIDIA's nvcc and ptxas when a run starts them (cli/tools_of_run.h).
#pragma once

namespace warpgrind::runtime {

// If this process is such a tool, executes `warpgrind tool-of-run` in its place. Returns if it is not, or if the
// replacement cannot be started.
void replace_tool(char** argv);

}  // namespace warpgrind::runtime
