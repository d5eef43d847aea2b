// Where managed memory lies, by allocation: with the host, as far as the program had written it before a GPU could
// touch it, or with the GPUs, that have touched it or had it prefetched. The virtual GPU has one physical memory, in
// which the host's accesses are not seen: what the host reads and writes after that is taken to be brought back for
// nothing, and to stay with the GPU.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace warpgrind::session {

// Thread-safe. Bytes move in the order of the ledger.
class ManagedMemory {
 public:
  // Before work may use the allocation [low, high): what the host has written of it by now counts, at the first time.
  void see(std::uint64_t low, std::uint64_t high);
  // How much of `bytes` bytes of it has to move, and does.
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
