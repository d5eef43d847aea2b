// Memory of the alloc nodes of graphs.
#pragma once

#include <cstddef>

namespace warpgrind::semantics {

// Memory of an alloc node. The graph, its clones and its executable graphs share it, and the last one releases it. Each
// launch has it at the same address, so a free leaves it in place; the next launch allocates it again.
struct GraphMemory {
  void* pointer = nullptr;
  std::size_t bytes = 0;
  int device = 0;
  GraphMemory(void* p, std::size_t n, int d);
  ~GraphMemory();  // leaves memory that a launch has allocated and nothing has freed to the program
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
};

// Notes that a launch allocates the memory, or that a node or a call frees it.
void note_graph_allocation(const void* pointer);
enum class GraphFree { other_memory, freed, not_allocated };
GraphFree note_graph_free(const void* pointer);

}  // namespace warpgrind::semantics
