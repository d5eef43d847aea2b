// Output of a graph as a file in DOT, the language of Graphviz.
#pragma once

#include "semantics/graph.h"

namespace warpgrind::semantics {

// flags: cudaGraphDebugDotFlags, the details of each node. cudaErrorOperatingSystem if the file cannot be written.
cudaError_t print_dot(const Graph* graph, const char* path, unsigned flags);

}  // namespace warpgrind::semantics
