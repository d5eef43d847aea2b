// A process of a run that turns out to be NVIDIA's nvcc or ptxas (cli/tools_of_run.h).
#pragma once

namespace warpgrind::cudart {

// Becomes `warpgrind tool-of-run` if this process is such a tool; returns if not, or if that cannot be started.
void replace_tool(char** argv);

}  // namespace warpgrind::cudart
