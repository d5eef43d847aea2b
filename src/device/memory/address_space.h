// The one host address range from which all virtual GPUs allocate, and the table of everything a kernel may touch.
// Unified addressing: an address means the same on every device and on the host.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"

namespace warpgrind::device {

inline constexpr std::uint64_t kHostPage = 4096;  // bytes of a page of the process's memory

// A stretch of addresses a kernel may touch: [low, high).
struct Range {
  std::uint64_t low = 0, high = 0;
  std::int32_t device = 0;
  std::uint64_t id = 0;                       // of the allocation; no other one of the process has it
  std::uint64_t devices = ~std::uint64_t{0};  // whose kernels may access it: a bit for each
  bool constant = false;                      // kernels may only read it
  bool managed = false;
  bool host = false;         // registered host memory: not ours to free
  bool kernel_heap = false;  // DeviceHeap knows which of it is in use
  bool internal = false;     // the driver's own: no memory of the program is near it
  int file = -1;             // whose pages it has, and nobody else on them (AddressSpace::share); -1: the process's own
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
  // nullopt: not the start of an allocation. by: the function that frees it, for messages. The place is not handed out
  // again soon, so that a use after free is found and named.
  std::optional<Range> release(std::uint64_t address, const char* by = nullptr);
  // Where an allocation lies in a file that other processes can map: at the same distance from its beginning as from
  // reserved_base(), so that each page of the process has one place there. Its pages become the file's at the first
  // such question; nobody may write to them meanwhile. Those of Range::file are from the beginning.
  struct Shared {
    int file = -1;
    std::uint64_t offset = 0;
  };
  Result<Shared> share(std::uint64_t address);
  // Addresses in whole pages of a GPU, without memory: what kernels may access there is what replace() says. wish:
  // where they are to begin, if they are free; alignment: 0, or a power of two. 0: there are none left.
  std::uint64_t reserve(std::uint64_t size, std::uint64_t alignment, std::uint64_t wish);
  void unreserve(std::uint64_t address, std::uint64_t size);
  // Between low and high, of reserved addresses, are these from now on; what was there before. What begins where
  // something began keeps its id.
  std::vector<Range> replace(std::uint64_t low, std::uint64_t high, const std::vector<Range>& ranges);
  // managed: a __managed__ variable that lies in the program's own memory.
  void register_host(std::uint64_t address, std::uint64_t size, bool managed = false);
  void unregister_host(std::uint64_t address);

  // The host has the address of a __constant__ variable, and may give it to kernels: a GPU lets them write there, and
  // sees it in constant loads of later launches.
  void let_kernels_write(std::uint64_t address);

  std::optional<Range> find(std::uint64_t address) const;
  bool overlapping(std::uint64_t low, std::uint64_t high) const;  // some of [low, high) is in the table
  struct Freed {
    Range range;
    const char* by = nullptr;
  };
  std::optional<Freed> freed(std::uint64_t address) const;  // what was there, if it was freed lately
  // The nearest range to an address that is in none, for messages; of the driver's own memory only to what lies there.
  std::optional<Range> nearest(std::uint64_t address) const;
  std::shared_ptr<const RangeTable> snapshot();
  // What a GPU would have mapped around an address of the reserved range, since it maps pages of 2 MiB: every page that
  // holds some of an allocation, and its neighbours of the same kind. The host can read and write all of it.
  std::optional<Range> mapped_around(std::uint64_t address);
  std::uint64_t reserved_base();  // 0: the host has no address space for it
  // Of nothing while nothing is reserved: a program that was not made to be moved has its heap at low addresses.
  bool inside_reserved(std::uint64_t address) const { return base_ && address - base_ < kReserved; }

  // From now on: freed places wait until as many bytes have been freed after them, however many places they are.
  void keep_freed(std::uint64_t bytes);

  static constexpr std::uint64_t kReserved = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kInternal = std::uint64_t{1} << 32;  // of it, at its end: Range::internal
  static constexpr std::uint64_t kRedZone = 512;
  // Freed places that wait: their pages are the host's again, so that they cost addresses only.
  static constexpr std::size_t kQuarantined = 4096;
  static constexpr std::uint64_t kQuarantinedBytes = kReserved / 4;

 private:
  AddressSpace() = default;
  bool reserve();
  Status share_pages(std::uint64_t low, std::uint64_t high, int file);
  void unshare_pages(std::uint64_t low, std::uint64_t high);
  void leave_quarantine();  // the oldest
  bool leaves_quarantine() const;
  std::uint64_t first_internal() const { return base_ + kReserved - kHugePage - kInternal; }
  std::uint64_t place(std::uint64_t size, std::uint64_t alignment, std::uint64_t skew);
  bool place_at(std::uint64_t low, std::uint64_t bytes);  // false: something is there
  void add_hole(std::uint64_t low, std::uint64_t bytes);
  std::uint64_t take_hole(std::uint64_t size, std::uint64_t alignment, std::uint64_t skew);

  static constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
  mutable std::mutex mutex_;
  std::uint64_t base_ = 0, top_ = 0, internal_top_ = 0;
  std::map<std::uint64_t, Range> ranges_;          // by low
  std::map<std::uint64_t, std::uint64_t> blocks_;  // allocation start -> bytes taken from the reserved range
  std::map<std::uint64_t, std::uint64_t> holes_;   // start -> bytes, below top_
  struct Quarantined {
    std::uint64_t low = 0, bytes = 0;
    Freed freed;
  };
  std::deque<Quarantined> quarantine_;  // the oldest first
  struct SharedPages {
    std::uint64_t high = 0;
    int file = -1;
  };
  std::map<std::uint64_t, SharedPages> shared_;  // by low; none overlap
  int shared_file_ = -1;                         // of what was made without a file
  std::uint64_t quarantined_bytes_ = 0, kept_bytes_ = 0;
  std::shared_ptr<const RangeTable> table_;  // null: must be rebuilt
  std::uint64_t large_count_ = 0, last_id_ = 0;
};

}  // namespace warpgrind::device
