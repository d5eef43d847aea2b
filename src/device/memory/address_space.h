// The one host address range from which all virtual GPUs allocate, and the table of everything a kernel may touch.
// Unified addressing: an address means the same on every device and on the host.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"

namespace warpgrind::device {

// A stretch of addresses a kernel may touch: [low, high).
struct Range {
  std::uint64_t low = 0, high = 0;
  std::int32_t device = 0;
  bool constant = false;  // kernels may only read it
  bool managed = false;
  bool host = false;  // registered host memory: not ours to free
  bool holds(std::uint64_t first, std::uint64_t last) const { return first >= low && last < high; }
};

// All ranges at one moment, sorted: read without locks while a kernel runs.
class RangeTable {
 public:
  explicit RangeTable(std::vector<Range> sorted) : ranges_(std::move(sorted)) {}
  const Range* find(std::uint64_t address) const;  // nullptr: not allocated
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;
};

class AddressSpace {
 public:
  static AddressSpace& instance();

  // Zeroed memory; nothing is committed until it is touched. At least kRedZone bytes before the next allocation.
  Result<std::uint64_t> allocate(std::uint64_t size, std::uint64_t alignment, const Range& attributes);
  std::optional<Range> release(std::uint64_t address);  // nullopt: not the start of an allocation
  void register_host(std::uint64_t address, std::uint64_t size);
  void unregister_host(std::uint64_t address);

  std::optional<Range> find(std::uint64_t address) const;
  bool overlapping(std::uint64_t low, std::uint64_t high) const;  // some of [low, high) is in the table
  // The ranges before and after an address that is in none, for messages.
  std::optional<Range> nearest(std::uint64_t address) const;
  std::shared_ptr<const RangeTable> snapshot();
  bool inside_reserved(std::uint64_t address) const { return address >= base_ && address < base_ + kReserved; }

  static constexpr std::uint64_t kReserved = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kRedZone = 512;

 private:
  AddressSpace() = default;
  bool reserve();
  std::uint64_t take_hole(std::uint64_t size, std::uint64_t alignment, std::uint64_t skew);

  mutable std::mutex mutex_;
  std::uint64_t base_ = 0, top_ = 0;
  std::map<std::uint64_t, Range> ranges_;          // by low
  std::map<std::uint64_t, std::uint64_t> blocks_;  // allocation start -> bytes taken from the reserved range
  std::map<std::uint64_t, std::uint64_t> holes_;   // start -> bytes, below top_
  std::shared_ptr<const RangeTable> table_;        // null: must be rebuilt
  std::uint64_t large_count_ = 0;
};

}  // namespace warpgrind::device
