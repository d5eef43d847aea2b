// A graph as a file in DOT, the language of Graphviz.
#pragma once

#include "host/graph.h"

namespace warpgrind::host {

// flags: cudaGraphDebugDotFlags, what is said of each node. A file that cannot be written: cudaErrorOperatingSystem.
cudaError_t print_dot(const Graph* graph, const char* path, unsigned flags);

}  // namespace warpgrind::host
