#include "adapter/memory_origins.h"

#include <fmt/format.h>

#include <utility>

namespace warpgrind::adapter {

events::Wants MemoryOrigins::wants() const {
  events::Wants wants;
  wants.allocations = wants.deallocations = wants.undefined_copies = true;
  return wants;
}

void MemoryOrigins::on_allocation(const events::Allocation& allocation, unsigned) {
  if (allocation.by) return;  // malloc in a kernel: the place is a line of the kernel, which is not kept
  Made made{allocation.bytes, std::string(allocation.name), {}};
  if (allocation.kind != events::Allocation::Kind::variable) made.stack = host_stack();
  const std::lock_guard lock(mutex_);
  made_[allocation.address] = std::move(made);
}

void MemoryOrigins::on_deallocation(const events::Allocation& allocation, unsigned) {
  const std::lock_guard lock(mutex_);
  made_.erase(allocation.address);
}

std::string MemoryOrigins::describe(std::uint64_t address) const {
  Made made;
  std::uint64_t at = 0;
  {
    const std::lock_guard lock(mutex_);
    auto after = made_.upper_bound(address);
    if (after == made_.begin()) return {};
    const auto& [begin, found] = *--after;
    at = address - begin;
    if (at >= found.bytes) return {};
    made = found;
  }
  if (made.name.empty()) return describe_(made.stack);
  return at == 0 ? made.name : fmt::format("{}+{}", made.name, at);
}

}  // namespace warpgrind::adapter
