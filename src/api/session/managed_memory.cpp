#include "session/managed_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <vector>

namespace warpgrind::session {
namespace {

constexpr std::uint64_t kPage = 4096;

// Bytes of the pages that exist. A page of fresh memory exists once it has been accessed.
double written_bytes(std::uint64_t low, std::uint64_t high) {
  constexpr std::uint64_t kAtOnce = 1 << 16;  // pages
  std::vector<unsigned char> there(kAtOnce);
  std::uint64_t pages = 0;
  for (std::uint64_t at = low & ~(kPage - 1); at < high; at += kAtOnce * kPage) {
    const std::uint64_t bytes = std::min(high - at, kAtOnce * kPage), count = (bytes + kPage - 1) / kPage;
    if (::mincore(reinterpret_cast<void*>(at), bytes, there.data()) != 0) continue;
    pages += static_cast<std::uint64_t>(std::count_if(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(count),
                                                      [](unsigned char p) { return p & 1; }));
  }
  return static_cast<double>(std::min(pages * kPage, high - low));
}

}  // namespace

void ManagedMemory::see(std::uint64_t low, std::uint64_t high) {
  const std::lock_guard lock(mutex_);
  const auto [found, first] = allocations_.try_emplace(low);
  if (first) found->second = {static_cast<double>(high - low), written_bytes(low, high)};
}

double ManagedMemory::to_device(std::uint64_t low, double bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(low);
  if (found == allocations_.end()) return 0;
  const double moved = std::min(found->second.on_host, bytes);
  found->second.on_host -= moved;
  return moved;
}

double ManagedMemory::to_host(std::uint64_t low, double bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(low);
  if (found == allocations_.end()) return 0;
  const double moved = std::min(found->second.bytes - found->second.on_host, bytes);
  found->second.on_host += moved;
  return moved;
}

void ManagedMemory::forget(std::uint64_t low) {
  const std::lock_guard lock(mutex_);
  allocations_.erase(low);
}

}  // namespace warpgrind::session
