// State of virtual memory management, shared by virtual_memory.cpp and multicast.cpp: memory, multicast objects and
// mappings. Handles of memory and of multicast objects are numbers of one sequence.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "semantics/virtual_memory.h"

namespace warpgrind::semantics {

struct Physical {
  std::uint64_t offset = 0, size = 0;
  int device = 0;
  int file = -1;  // own descriptor of shareable memory; else -1
  bool imported = false;
  unsigned references = 1, mappings = 0;
};
struct Mapping {
  std::uint64_t size = 0, memory = 0;          // memory: a handle
  std::map<int, cudaMemAccessFlags> access{};  // by device; other devices have no access
};
using Mappings = std::map<std::uint64_t, Mapping>;  // by address

// Memory of one GPU, bound to a part of a multicast object.
struct MulticastBinding {
  int device = 0;
  std::uint64_t offset = 0, size = 0;           // in the multicast object
  std::uint64_t memory = 0, memory_offset = 0;  // a handle; 0: memory of a pool, at `address`
  std::uint64_t address = 0;
  std::uint64_t alias = 0;  // own mapping of the memory, made if the program has none that kernels of its GPU can use
};
struct MulticastObject {
  std::uint64_t size = 0;
  std::size_t device_count = 0;  // how many GPUs have to be added
  bool shareable = false;
  std::vector<int> devices{};  // sorted
  std::vector<MulticastBinding> bindings{};
  unsigned references = 1, mappings = 0;
};

struct VirtualMemory {
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t> reserved;      // address -> size
  std::map<std::uint64_t, Physical> memories;           // by handle
  std::map<std::uint64_t, MulticastObject> multicasts;  // by handle
  std::condition_variable device_added;                 // to a multicast object
  bool has_multicast_table = false;                     // kernels know of multimem addresses
  Mappings mappings;
  std::uint64_t last_handle = 0;
};
VirtualMemory& virtual_memory();

Mappings::iterator mapping_at(VirtualMemory& v, std::uint64_t address);
// Frees memory or a multicast object without references and mappings.
void forget_if_unused(VirtualMemory& v, std::uint64_t handle);

// ---- multicast.cpp

void forget_multicast_if_unused(VirtualMemory& v, std::uint64_t handle);
// References to memory or a multicast object; null: no such handle.
unsigned* references_of(VirtualMemory& v, std::uint64_t handle);
// Waits until all GPUs have been added, as the functions of a GPU do. Null: no such multicast object.
MulticastObject* multicast_with_all_devices(VirtualMemory& v, std::uint64_t handle, std::unique_lock<std::mutex>& lock);
// Whether a mapping of the handle may give access to a GPU.
bool may_use_multicast(const VirtualMemory& v, std::uint64_t handle, int device);
// Updates what multimem addresses stand for in kernels, after any change of mappings and bindings.
void update_multicasts(VirtualMemory& v);

}  // namespace warpgrind::semantics
