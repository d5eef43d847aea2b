// Location of managed memory, by allocation, to estimate migrations. Bytes that the program wrote before a GPU could
// touch them are on the host. Bytes that a GPU has touched or prefetched are on the GPUs. The virtual GPU has one
// physical memory and does not see host accesses. It assumes that later host accesses take no migration time, and that
// the memory stays on the GPU.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace warpgrind::session {

// Thread-safe. Bytes move in the order of the ledger (timing/ledger.h).
class ManagedMemory {
 public:
  // Call before work may use the allocation [low, high). The first call notes how many bytes the host has written.
  void see(std::uint64_t low, std::uint64_t high);
  // Move up to `bytes` bytes of the allocation; return the bytes that were on the other side and did move.
  double to_device(std::uint64_t low, double bytes);
  double to_host(std::uint64_t low, double bytes);
  void forget(std::uint64_t low);

 private:
  struct Allocation {
    double bytes = 0, on_host = 0;
  };
  std::mutex mutex_;
  std::map<std::uint64_t, Allocation> allocations_;  // by low
};

}  // namespace warpgrind::session
