#include "semantics/graph_memory.h"

#include <map>
#include <mutex>

#include "semantics/operation.h"

namespace warpgrind::semantics {

namespace {

struct Known {
  std::mutex mutex;
  std::map<const void*, bool> allocated;  // by address: a launch has allocated it, and nothing has freed it
};
Known& known() {
  static auto* k = new Known;  // never destroyed: graphs may end after it
  return *k;
}

}  // namespace

GraphMemory::GraphMemory(void* p, std::size_t n, int d) : pointer(p), bytes(n), device(d) {
  const std::lock_guard lock(known().mutex);
  known().allocated[p] = false;
}

GraphMemory::~GraphMemory() {
  bool in_use = false;
  {
    const std::lock_guard lock(known().mutex);
    in_use = known().allocated[pointer];
    known().allocated.erase(pointer);
  }
  if (!in_use) release(pointer);
}

void note_graph_allocation(const void* pointer) {
  const std::lock_guard lock(known().mutex);
  if (const auto found = known().allocated.find(pointer); found != known().allocated.end()) found->second = true;
}

GraphFree note_graph_free(const void* pointer) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().allocated.find(pointer);
  if (found == known().allocated.end()) return GraphFree::other_memory;
  const bool was_allocated = found->second;
  found->second = false;
  return was_allocated ? GraphFree::freed : GraphFree::not_allocated;
}

}  // namespace warpgrind::semantics
