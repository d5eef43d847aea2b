// Address space of all virtual GPUs: one range of host addresses from which they allocate, and the table of all memory
// that kernels may touch. Unified addressing: an address means the same on every device and on the host.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "device/memory/multicast.h"

namespace warpgrind::device {

inline constexpr std::uint64_t kHostPage = 4096;  // bytes of a page of the process's memory

// A range of addresses that a kernel may touch: [low, high).
struct Range {
  std::uint64_t low = 0, high = 0;
  std::int32_t device = 0;
  std::uint64_t id = 0;                       // of the allocation; unique in the process
  std::uint64_t devices = ~std::uint64_t{0};  // devices whose kernels may access it, one bit each
  bool constant = false;                      // kernels may only read it
  bool managed = false;
  bool host = false;         // registered host memory: the program frees it
  bool kernel_heap = false;  // DeviceHeap knows which parts are in use
  bool internal = false;     // memory of the driver, far from memory of the program
  int file = -1;             // its own backing file (AddressSpace::share); -1: memory of the process
  bool holds(std::uint64_t first, std::uint64_t last) const { return first >= low && last < high; }
};

// Snapshot of all ranges, sorted: read without locks while a kernel runs.
class RangeTable {
 public:
  explicit RangeTable(std::vector<Range> sorted, std::vector<Multicast> multicasts = {})
      : ranges_(std::move(sorted)), multicasts_(std::move(multicasts)) {}
  const Range* find(std::uint64_t address) const;  // nullptr: not allocated
  const std::vector<Range>& ranges() const { return ranges_; }
  const Multicast* multicast(std::uint64_t address) const;  // nullptr: no multimem address

 private:
  std::vector<Range> ranges_;
  std::vector<Multicast> multicasts_;  // sorted
};

class AddressSpace {
 public:
  static AddressSpace& instance();

  // Allocates zeroed memory; huge pages are committed when touched. The next allocation is at least kRedZone bytes
  // away.
  Result<std::uint64_t> allocate(std::uint64_t size, std::uint64_t alignment, const Range& attributes);
  // nullopt: not the start of an allocation. by: the freeing function, for messages. The addresses are not reused soon,
  // so that a use after free is found and named.
  std::optional<Range> release(std::uint64_t address, const char* by = nullptr);
  // Place of an allocation in a file that other processes can map. Its offset in the file equals its offset from
  // reserved_base(), so that each page of the process has one place there. The first call for an allocation moves its
  // pages to the file; no thread may write to them meanwhile. Allocations with Range::file are in that file from their
  // start.
  struct Shared {
    int file = -1;
    std::uint64_t offset = 0;
  };
  Result<Shared> share(std::uint64_t address);
  // Reserves addresses in whole GPU pages, without memory; replace() defines what kernels may access there. wish:
  // preferred start, used if free; alignment: 0, or a power of two. Returns 0 if no addresses are left.
  std::uint64_t reserve(std::uint64_t size, std::uint64_t alignment, std::uint64_t wish);
  void unreserve(std::uint64_t address, std::uint64_t size);
  // Replaces the ranges between low and high, in reserved addresses, and returns the old ones. A range that begins
  // where an old one began keeps its id.
  std::vector<Range> replace(std::uint64_t low, std::uint64_t high, const std::vector<Range>& ranges);
  // Takes reserved addresses and ranges over from another process, with their zeroed memory. Before any allocation.
  // base: its reserved_base(); 0: it had reserved none. The caller has mapped reservation_of(base), and that memory
  // stays mapped. Error: other memory of this process is where host memory was.
  Status adopt(std::uint64_t base, const std::vector<Range>& ranges);
  struct Reservation {
    std::uint64_t low = 0, bytes = 0;
  };
  static Reservation reservation_of(std::uint64_t base) { return {base - kFront, kFront + kReserved - kHugePage}; }
  // All mapped multicast objects, sorted by address. Their addresses are no ranges: only multimem.* may use them.
  void set_multicasts(std::vector<Multicast> sorted);
  bool is_multimem(std::uint64_t address) const;
  // managed: a __managed__ variable in the program's own memory.
  void register_host(std::uint64_t address, std::uint64_t size, bool managed = false);
  void unregister_host(std::uint64_t address);

  // Makes a __constant__ variable writable for kernels, because the host has its address and may pass it to them. A GPU
  // allows such writes, and constant loads of later launches see them.
  void let_kernels_write(std::uint64_t address);

  std::optional<Range> find(std::uint64_t address) const;
  bool overlapping(std::uint64_t low, std::uint64_t high) const;  // [low, high) overlaps a range of the table
  struct Freed {
    Range range;
    const char* by = nullptr;
  };
  std::optional<Freed> freed(std::uint64_t address) const;  // the recently freed range at the address
  // The range nearest to an address outside all ranges, for messages. Memory of the driver is considered only for
  // addresses inside it.
  std::optional<Range> nearest(std::uint64_t address) const;
  std::shared_ptr<const RangeTable> snapshot();
  // The range that a GPU would have mapped around an address of the reserved range. A GPU maps pages of 2 MiB: every
  // page that holds part of an allocation, and its neighbours of the same kind. Before the first allocation is memory
  // of the driver (kDriverMemory). The host can read and write all of it.
  std::optional<Range> mapped_around(std::uint64_t address);
  std::uint64_t reserved_base();  // 0: the host has no address space for it
  // False while nothing is reserved: a program built without position independence has its heap at low addresses.
  bool inside_reserved(std::uint64_t address) const { return base_ && address - (base_ - kFront) < kFront + kReserved; }

  // Sets the quarantine size: freed addresses are not reused until this many bytes have been freed after them, whatever
  // their number.
  void keep_freed(std::uint64_t bytes);

  static constexpr std::uint64_t kReserved = std::uint64_t{1} << 40;
  // Reserved before the first allocation, for messages: a negative int as index of 4-byte words stays within 8 GiB.
  // Otherwise the host's own memory would begin there.
  static constexpr std::uint64_t kFront = std::uint64_t{1} << 33;
  // Bytes of the driver's memory, all zeros, that are mapped before a first allocation of at most kBesideDriver bytes.
  // A larger one begins in a chunk of its own, with nothing before it. On an H200 (driver 580) its first and last 64
  // MiB were probed: tests/data/h200/mapped.csv.
  static constexpr std::uint64_t kDriverMemory = std::uint64_t{488} << 20, kBesideDriver = std::uint64_t{24} << 20;
  static constexpr std::uint64_t kInternal = std::uint64_t{1} << 32;  // part of kReserved, at its end: Range::internal
  static constexpr std::uint64_t kRedZone = 512;
  // Limits of the quarantine of freed addresses. Nearly all of their pages are returned to the host, so that they cost
  // addresses only.
  static constexpr std::size_t kQuarantined = 4096;
  static constexpr std::uint64_t kQuarantinedBytes = kReserved / 4;

 private:
  AddressSpace() = default;
  bool reserve();
  Status share_pages(std::uint64_t low, std::uint64_t high, int file);
  void unshare_pages(std::uint64_t low, std::uint64_t high);
  void leave_quarantine();  // releases the oldest
  bool leaves_quarantine() const;
  bool open_pages(std::uint64_t first, std::uint64_t last);
  bool is_huge_page_free(std::uint64_t page) const;
  void clear_pages(std::uint64_t first, std::uint64_t last);
  void keep_warm(std::uint64_t low, std::uint64_t high);
  void forget_warm(std::uint64_t low, std::uint64_t high);
  std::uint64_t first_internal() const { return base_ + kReserved - kHugePage - kInternal; }
  std::uint64_t place(std::uint64_t size, std::uint64_t alignment, std::uint64_t skew);
  bool place_at(std::uint64_t low, std::uint64_t bytes);  // false: occupied
  void add_hole(std::uint64_t low, std::uint64_t bytes);
  std::uint64_t take_hole(std::uint64_t size, std::uint64_t alignment, std::uint64_t skew);

  static constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
  mutable std::mutex mutex_;
  std::uint64_t base_ = 0, top_ = 0, internal_top_ = 0;
  std::map<std::uint64_t, Range> ranges_;          // by low
  std::map<std::uint64_t, std::uint64_t> blocks_;  // allocation start -> bytes taken from the reserved range
  std::map<std::uint64_t, std::uint64_t> holes_;   // start -> bytes, below top_
  std::vector<Multicast> multicasts_;
  struct Quarantined {
    std::uint64_t low = 0, bytes = 0;
    Freed freed;
  };
  std::deque<Quarantined> quarantine_;  // the oldest first
  // Parts of huge pages that were freed, zeroed, and are still in memory. No allocation overlaps them.
  struct WarmPages {
    std::uint64_t low = 0, high = 0;
  };
  static constexpr std::uint64_t kWarmBytes = std::uint64_t{8} << 20;
  static constexpr std::size_t kWarmParts = 64;
  std::deque<WarmPages> warm_;  // the oldest first
  std::uint64_t warm_bytes_ = 0;
  std::uint64_t open_until_ = 0;  // huge pages from here on are opened whole by the first allocation in them
  struct SharedPages {
    std::uint64_t high = 0;
    int file = -1;
  };
  std::map<std::uint64_t, SharedPages> shared_;  // by low; none overlap
  int shared_file_ = -1;                         // for allocations made without a file
  std::uint64_t quarantined_bytes_ = 0, kept_bytes_ = 0;
  std::shared_ptr<const RangeTable> table_;  // null: must be rebuilt
  std::uint64_t large_count_ = 0, last_id_ = 0;
};

}  // namespace warpgrind::device
