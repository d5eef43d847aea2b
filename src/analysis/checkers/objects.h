// All memory objects the program has had (allocations, variables): address range, and where each was made and freed.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/host_stack.h"
#include "events/observer.h"
#include "results/finding.h"

namespace warpgrind::checkers {

struct Object {
  std::uint64_t number = 0;  // 1, 2, 3 ... in order of creation
  events::Allocation::Kind kind = events::Allocation::Kind::device;
  int device = 0;
  std::uint64_t address = 0, bytes = 0;
  std::string name;  // of a variable
  HostStack made;    // host call; empty for the kernel heap and for variables
  std::optional<HostStack> freed;
  // Kernel heap: the accesses that called malloc and free.
  std::optional<results::FindingAccess> made_by, freed_by;

  bool live() const { return !freed && !freed_by; }
  bool holds(std::uint64_t at) const { return at - address < bytes; }
};

// "a 4096-byte allocation (cudaMalloc at main.cu:31)", "`table` (108 bytes, variable of the module)"
std::string describe(const Object& object);
// "bytes 16..19 of ..."
std::string describe(const Object& object, std::uint64_t address, std::uint64_t bytes);
// The object as the origin of the values in it.
results::FindingOrigin origin_of(const Object& object);

// Thread-safe.
class Objects final : public events::Observer {
 public:
  events::Wants wants() const override;
  void on_allocation(const events::Allocation& allocation, unsigned worker) override;
  void on_deallocation(const events::Allocation& allocation, unsigned worker) override;

  std::optional<Object> live_at(std::uint64_t address) const;
  // Of the freed objects that contained the address, the one freed last.
  std::optional<Object> freed_at(std::uint64_t address) const;
  std::vector<Object> all() const;  // by number

 private:
  mutable std::mutex mutex_;
  std::uint64_t made_ = 0;
  std::map<std::uint64_t, Object> live_;        // by address
  std::multimap<std::uint64_t, Object> freed_;  // by address
};

}  // namespace warpgrind::checkers
