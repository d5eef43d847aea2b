// Address space: allocation by first fit, quarantine of freed addresses, sharing of pages, and the table of ranges.
#include "device/memory/address_space.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "base/element.h"
#include "device/memory/kept_memory.h"
#include "device/memory/physical_memory.h"
#include "device/memory/written_pages.h"

namespace warpgrind::device {

namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}
std::uint64_t round_down(std::uint64_t value, std::uint64_t to) {
  return value / to * to;
}
void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

// Maps whole pages of host memory that are not mapped yet. False: one belongs to other memory.
bool map_host_pages(std::uint64_t low, std::uint64_t high) {
  static auto* const mapped = new std::map<std::uint64_t, std::uint64_t>;  // neighbours in a page share it
  for (std::uint64_t page = low; page < high; page += kHostPage) {
    const auto after = mapped->upper_bound(page);
    if (after != mapped->begin() && std::prev(after)->second > page) continue;
    const std::uint64_t end = after == mapped->end() ? high : std::min(high, after->first);
    void* const made = mmap(pointer(page), end - page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (made == MAP_FAILED) return false;
    (*mapped)[page] = end;
    page = end - kHostPage;
  }
  return true;
}

}  // namespace

const Range* RangeTable::find(std::uint64_t address) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                      [](std::uint64_t a, const Range& r) { return a < r.low; });
  if (after == ranges_.begin()) return nullptr;
  const Range& r = *(after - 1);
  return address < r.high ? &r : nullptr;
}

const Multicast* RangeTable::multicast(std::uint64_t address) const {
  return find_multicast(multicasts_, address);
}

AddressSpace& AddressSpace::instance() {
  // Never destroyed: programs free device memory from their own static destructors.
  static AddressSpace* const space = new AddressSpace;
  return *space;
}

bool AddressSpace::reserve() {
  if (base_) return true;
  void* p = mmap(nullptr, kFront + kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return false;
  base_ = round_up(reinterpret_cast<std::uint64_t>(p), kHugePage) + kFront;
  top_ = base_;
  internal_top_ = first_internal();
  return true;
}

std::uint64_t AddressSpace::reserved_base() {
  const std::lock_guard lock(mutex_);
  return reserve() ? base_ : 0;
}

// First fit among the holes; 0: none fits.
std::uint64_t AddressSpace::take_hole(std::uint64_t size, std::uint64_t alignment, std::uint64_t skew) {
  for (auto it = holes_.begin(); it != holes_.end(); ++it) {
    const std::uint64_t low = it->first, high = low + it->second;
    const std::uint64_t start = round_up(low, alignment) + skew;
    if (start + size > high) continue;
    holes_.erase(it);
    if (start > low) holes_[low] = start - low;
    if (start + size < high) holes_[start + size] = high - start - size;
    return start;
  }
  return 0;
}

// Returns a free place; 0: none.
std::uint64_t AddressSpace::place(std::uint64_t taken, std::uint64_t alignment, std::uint64_t skew) {
  std::uint64_t start = take_hole(taken, alignment, skew);
  const auto behind_all = [&] {
    const std::uint64_t at = round_up(top_, alignment) + skew;
    return at + taken <= first_internal() ? at : 0;
  };
  while (!start && !behind_all() && !quarantine_.empty()) {
    leave_quarantine();
    start = take_hole(taken, alignment, skew);
  }
  if (start) return start;
  start = behind_all();
  if (!start) return 0;
  if (start > top_) holes_[top_] = start - top_;
  top_ = start + taken;
  return start;
}

// Makes pages of a new allocation writable. Huge pages that are new are opened whole, because the host gives memory by
// the huge page only where all of it is open: 1 MiB that is allocated, filled and freed took 1,250 us, now 62.
bool AddressSpace::open_pages(std::uint64_t first, std::uint64_t last) {
  std::uint64_t low = first, high = last;
  if (last > open_until_ && last <= first_internal()) {
    if (first >= open_until_) low = round_down(first, kHugePage);
    high = open_until_ = round_up(last, kHugePage);
  }
  if (mprotect(pointer(low), high - low, PROT_READ | PROT_WRITE) != 0) return false;
  madvise(pointer(low), high - low, MADV_HUGEPAGE);
  return true;
}

Result<std::uint64_t> AddressSpace::allocate(std::uint64_t size, std::uint64_t alignment, const Range& attributes) {
  const std::lock_guard lock(mutex_);
  if (!reserve())
    return Error{ErrorKind::environment, fmt::format("cannot reserve address space: {}", std::strerror(errno)),
                 "raise the limit on virtual memory (ulimit -v)"};
  size = std::max<std::uint64_t>(1, size);
  const bool own_pages = attributes.file >= 0;
  alignment = std::max<std::uint64_t>(own_pages ? kHostPage : 512, alignment);
  if (size > kReserved) return Error{ErrorKind::environment, "no address space left for device memory", ""};
  const bool large = size >= kHugePage;
  std::uint64_t skew = 0;
  if (large && alignment <= 512) {
    // Large arrays start on huge pages, but at different offsets in a 4 KiB page. On x86 a load waits for an earlier
    // store whose address agrees in the low 12 bits ("4K aliasing"), and a[i], b[i], c[i] would always agree.
    alignment = kHugePage;
    skew = (large_count_++ * 5 % 8) * 512;
  }
  const std::uint64_t taken = round_up(size + kRedZone, own_pages ? kHostPage : 512);
  std::uint64_t start = 0;
  if (attributes.internal && taken + alignment <= first_internal() + kInternal - internal_top_) {
    start = round_up(internal_top_, alignment) + skew;
    internal_top_ = start + taken;
  } else {
    start = place(taken, alignment, skew);
    if (!start) return Error{ErrorKind::environment, "no address space left for device memory", ""};
  }
  const std::uint64_t first = round_down(start, kHostPage), last = round_up(start + size, kHostPage);
  if (!open_pages(first, last)) {
    if (start < first_internal()) holes_[start] = taken;
    return Error{ErrorKind::environment, fmt::format("the host has no memory left: {}", std::strerror(errno)), ""};
  }
  forget_warm(start, start + taken);
  if (own_pages)
    if (Status shared = share_pages(first, last, attributes.file); !shared) {
      holes_[start] = taken;
      return shared.error();
    }
  WG_ASSERT(start % 512 == 0 && !ranges_.contains(start) && !blocks_.contains(start));
  Range range = attributes;
  range.low = start;
  range.high = start + size;
  range.id = ++last_id_;
  ranges_[start] = range;
  blocks_[start] = taken;
  table_.reset();
  return start;
}

bool AddressSpace::place_at(std::uint64_t low, std::uint64_t bytes) {
  std::uint64_t high = 0;
  if (low < base_ || __builtin_add_overflow(low, bytes, &high) || high > first_internal()) return false;
  if (low >= top_) {
    if (low > top_) holes_[top_] = low - top_;
    top_ = high;
    return true;
  }
  const auto above = holes_.upper_bound(low);
  if (above == holes_.begin()) return false;
  const auto hole = std::prev(above);
  const std::uint64_t first = hole->first, last = first + hole->second;
  if (high > last) return false;
  holes_.erase(hole);
  if (low > first) holes_[first] = low - first;
  if (high < last) holes_[high] = last - high;
  return true;
}

std::uint64_t AddressSpace::reserve(std::uint64_t size, std::uint64_t alignment, std::uint64_t wish) {
  const std::lock_guard lock(mutex_);
  alignment = std::max(alignment, kHugePage);
  if (!reserve() || size > kReserved || alignment > kReserved) return 0;
  const std::uint64_t bytes = round_up(size, kHugePage);
  if (wish % alignment == 0 && place_at(wish, bytes)) return wish;
  return place(bytes, alignment, 0);
}

void AddressSpace::unreserve(std::uint64_t address, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  add_hole(address, round_up(size, kHugePage));
}

std::vector<Range> AddressSpace::replace(std::uint64_t low, std::uint64_t high, const std::vector<Range>& ranges) {
  const std::lock_guard lock(mutex_);
  std::vector<Range> before;
  for (auto it = ranges_.lower_bound(low); it != ranges_.end() && it->first < high; it = ranges_.erase(it))
    before.push_back(it->second);
  for (Range range : ranges) {
    const auto same = [&](const Range& r) { return r.low == range.low; };
    const auto old = std::find_if(before.begin(), before.end(), same);
    range.id = old == before.end() ? ++last_id_ : old->id;
    ranges_[range.low] = range;
  }
  table_.reset();
  return before;
}

Status AddressSpace::adopt(std::uint64_t base, const std::vector<Range>& ranges) {
  const std::lock_guard lock(mutex_);
  WG_ASSERT(base_ == 0 && ranges_.empty());
  if (base != 0) {
    base_ = base;
    top_ = base_;
    internal_top_ = first_internal();
  }
  for (const Range& range : ranges) {
    const std::uint64_t first = round_down(range.low, kHostPage), last = round_up(range.high, kHostPage);
    const bool reserved = inside_reserved(range.low);
    const bool mapped =
        reserved ? mprotect(pointer(first), last - first, PROT_READ | PROT_WRITE) == 0 : map_host_pages(first, last);
    if (!mapped)
      return Error{ErrorKind::environment,
                   fmt::format("no memory at {:#x} to {:#x}: {}", first, last, std::strerror(errno)), ""};
    ranges_[range.low] = range;
    ranges_[range.low].id = ++last_id_;
    if (!reserved) continue;
    if (range.internal)
      internal_top_ = std::max(internal_top_, round_up(range.high + kRedZone, 512));
    else
      top_ = std::max(top_, round_up(range.high + kRedZone, 512));
  }
  open_until_ = round_up(top_, kHugePage);
  table_.reset();
  return Ok{};
}

void AddressSpace::set_multicasts(std::vector<Multicast> sorted) {
  const std::lock_guard lock(mutex_);
  multicasts_ = std::move(sorted);
  table_.reset();
}

bool AddressSpace::is_multimem(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return find_multicast(multicasts_, address) != nullptr;
}

std::optional<Range> AddressSpace::release(std::uint64_t address, const char* by) {
  const std::lock_guard lock(mutex_);
  const auto block = blocks_.find(address);
  if (block == blocks_.end()) return std::nullopt;
  const Range range = element(ranges_, address);
  // All bytes become zero, so that a later allocation starts with zeroes like a new one. A file of its own backs whole
  // pages.
  const std::uint64_t first = round_up(range.low, kHostPage);
  const std::uint64_t last = range.file >= 0 ? round_up(range.high, kHostPage) : round_down(range.high, kHostPage);
  WrittenPages::instance().forget(first, last);
  if (range.file >= 0) {
    unshare_pages(first, last);
  } else if (first < last) {
    unshare_pages(first, last);
    std::memset(pointer(range.low), 0, first - range.low);
    std::memset(pointer(last), 0, range.high - last);
  } else {
    std::memset(pointer(range.low), 0, range.high - range.low);
  }
  const std::uint64_t taken = block->second;
  blocks_.erase(block);
  if (range.file < 0 && first < last) clear_pages(first, last);
  ranges_.erase(address);
  if (address < first_internal()) {  // allocations of the driver are few, and have addresses enough
    quarantine_.push_back({address, taken, {range, by}});
    quarantined_bytes_ += taken;
  }
  while (leaves_quarantine()) leave_quarantine();
  table_.reset();
  return range;
}

// Whether no allocation has a part of a huge page, and the next ones will have none.
bool AddressSpace::is_huge_page_free(std::uint64_t page) const {
  const std::uint64_t end = page + kHugePage;
  if (top_ > page && top_ < end) return false;
  const auto after = blocks_.lower_bound(end);
  if (after == blocks_.begin()) return true;
  const auto last = std::prev(after);
  return last->first + last->second <= page;
}

// Zeroes pages of freed memory. Huge pages without an allocation are returned to the host. A part of another one is
// zeroed and stays in memory: if it were returned, the host would split the huge page.
void AddressSpace::clear_pages(std::uint64_t first, std::uint64_t last) {
  if (last > first_internal()) {
    madvise(pointer(first), last - first, MADV_DONTNEED);
    return;
  }
  for (std::uint64_t low = first, high = 0; low < last; low = high) {
    const std::uint64_t page = round_down(low, kHugePage), end = round_down(last, kHugePage);
    if (low == page && low < end) {  // whole ones
      high = end;
      madvise(pointer(low), high - low, MADV_DONTNEED);
      continue;
    }
    high = std::min(last, page + kHugePage);
    if (is_huge_page_free(page)) {
      madvise(pointer(page), kHugePage, MADV_DONTNEED);
      forget_warm(page, page + kHugePage);
    } else {
      std::memset(pointer(low), 0, high - low);
      keep_warm(low, high);
    }
  }
}

// Keeps freed pages, which are zeroes, in memory. The oldest are returned to the host when they are too many.
void AddressSpace::keep_warm(std::uint64_t low, std::uint64_t high) {
  warm_.push_back({low, high});
  warm_bytes_ += high - low;
  while (warm_bytes_ > kWarmBytes || warm_.size() > kWarmParts) {
    const WarmPages oldest = warm_.front();
    forget_warm(oldest.low, oldest.high);
    madvise(pointer(oldest.low), oldest.high - oldest.low, MADV_DONTNEED);
  }
}

void AddressSpace::forget_warm(std::uint64_t low, std::uint64_t high) {
  std::erase_if(warm_, [&](const WarmPages& pages) {
    const bool overlaps = pages.low < high && low < pages.high;
    if (overlaps) warm_bytes_ -= pages.high - pages.low;
    return overlaps;
  });
}

Result<AddressSpace::Shared> AddressSpace::share(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  if (!blocks_.contains(address)) return Error{ErrorKind::bad_input, "no allocation begins at this address", ""};
  const Range& range = element(ranges_, address);
  KeptMemory::instance().shares_memory();
  if (range.file >= 0) return Shared{range.file, address - base_};
  if (shared_file_ < 0) {
    const Result<int> made = make_shareable_file("memory", kReserved);
    if (!made) return made.error();
    shared_file_ = *made;
  }
  const std::uint64_t first = round_down(range.low, kHostPage), last = round_up(range.high, kHostPage);
  if (Status shared = share_pages(first, last, shared_file_); !shared) return shared.error();
  return Shared{shared_file_, address - base_};
}

// Shares the pages that are not shared yet (some may be, through a neighbour).
Status AddressSpace::share_pages(std::uint64_t low, std::uint64_t high, int file) {
  while (low < high) {
    auto next = shared_.upper_bound(low);
    if (next != shared_.begin() && std::prev(next)->second.high > low) {
      low = std::prev(next)->second.high;
      continue;
    }
    const std::uint64_t end = next == shared_.end() ? high : std::min(high, next->first);
    static constexpr std::uint8_t kZeroes[kHostPage] = {};
    for (std::uint64_t page = low; page < end; page += kHostPage)
      if (std::memcmp(pointer(page), kZeroes, kHostPage) != 0 &&
          ::pwrite(file, pointer(page), kHostPage, static_cast<off_t>(page - base_)) != static_cast<ssize_t>(kHostPage))
        return Error{ErrorKind::environment, fmt::format("the host has no memory left: {}", std::strerror(errno)), ""};
    if (Status mapped = map_physical(low, end - low, low - base_, file); !mapped) return mapped;
    shared_[low] = {end, file};
    low = end;
  }
  return Ok{};
}

// Returns whole pages of freed memory to the process. Other mappings of them then show zeroes.
void AddressSpace::unshare_pages(std::uint64_t low, std::uint64_t high) {
  auto it = shared_.upper_bound(low);
  if (it != shared_.begin() && std::prev(it)->second.high > low) --it;
  while (it != shared_.end() && it->first < high) {
    const std::uint64_t first = it->first, first_here = std::max(low, first);
    const SharedPages pages = it->second;
    const std::uint64_t last = std::min(high, pages.high), bytes = last - first_here;
    it = shared_.erase(it);
    if (first < first_here) shared_[first] = {first_here, pages.file};
    if (last < pages.high) it = shared_.emplace(last, pages).first;
    ::mmap(pointer(first_here), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
           -1, 0);
    ::fallocate(pages.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first_here - base_),
                static_cast<off_t>(bytes));
  }
}

void AddressSpace::keep_freed(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  kept_bytes_ = std::min(bytes, kQuarantinedBytes);
}

bool AddressSpace::leaves_quarantine() const {
  if (quarantined_bytes_ > kQuarantinedBytes) return true;
  return quarantine_.size() > kQuarantined && quarantined_bytes_ > kept_bytes_;
}

void AddressSpace::leave_quarantine() {
  WG_ASSERT(!quarantine_.empty() && quarantined_bytes_ >= quarantine_.front().bytes);
  const Quarantined oldest = quarantine_.front();
  quarantine_.pop_front();
  quarantined_bytes_ -= oldest.bytes;
  add_hole(oldest.low, oldest.bytes);
}

// Joins the new hole with its neighbours. A hole at the top gives its addresses back.
void AddressSpace::add_hole(std::uint64_t low, std::uint64_t bytes) {
  WG_ASSERT(bytes > 0 && low >= base_);
  std::uint64_t high = low + bytes;
  auto next = holes_.lower_bound(low);
  if (next != holes_.end() && next->first == high) {
    high += next->second;
    next = holes_.erase(next);
  }
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == low) {
      low = before->first;
      holes_.erase(before);
    }
  }
  if (high == top_)
    top_ = low;
  else
    holes_[low] = high - low;
}

std::optional<AddressSpace::Freed> AddressSpace::freed(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  for (auto it = quarantine_.rbegin(); it != quarantine_.rend(); ++it)
    if (address >= it->freed.range.low && address < it->freed.range.high) return it->freed;
  return std::nullopt;
}

void AddressSpace::register_host(std::uint64_t address, std::uint64_t size, bool managed) {
  const std::lock_guard lock(mutex_);
  Range range;
  range.low = address;
  range.high = address + std::max<std::uint64_t>(1, size);
  range.host = true;
  range.managed = managed;
  range.id = ++last_id_;
  ranges_[address] = range;
  table_.reset();
}

void AddressSpace::unregister_host(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto it = ranges_.find(address);
  if (it == ranges_.end() || !it->second.host) return;
  ranges_.erase(it);
  table_.reset();
}

void AddressSpace::let_kernels_write(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(address);
  if (found == ranges_.end() || !found->second.constant || found->second.internal) return;
  found->second.constant = false;
  table_.reset();
}

std::optional<Range> AddressSpace::find(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto it = ranges_.upper_bound(address);
  if (it == ranges_.begin()) return std::nullopt;
  --it;
  if (address >= it->second.high) return std::nullopt;
  return it->second;
}

bool AddressSpace::overlapping(std::uint64_t low, std::uint64_t high) const {
  const std::lock_guard lock(mutex_);
  const auto above = ranges_.lower_bound(high);
  return above != ranges_.begin() && std::prev(above)->second.high > low;
}

std::optional<Range> AddressSpace::nearest(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto after = ranges_.upper_bound(address);
  const bool internal = address >= first_internal();
  std::optional<Range> best;
  if (after != ranges_.begin()) best = std::prev(after)->second;
  if (after != ranges_.end() && after->second.internal == internal) {
    const Range& r = after->second;
    if (!best || r.low - address < address - best->high) best = r;
  }
  return best;
}

std::optional<Range> AddressSpace::mapped_around(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  if (!base_ || !inside_reserved(address) || address >= first_internal()) return std::nullopt;
  const auto in_use = [&](std::uint64_t page) {
    const auto above = ranges_.lower_bound(page + kHugePage);
    return above != ranges_.begin() && std::prev(above)->second.high > page;
  };
  Range mapped;
  if (address < base_) {
    const auto first = ranges_.lower_bound(base_);
    if (base_ - address > kDriverMemory || first == ranges_.end() || first->second.low >= base_ + kHugePage ||
        first->second.high - first->second.low > kBesideDriver)
      return std::nullopt;
    mapped.low = base_ - kDriverMemory;
    mapped.high = round_up(first->second.high, kHugePage);
    if (mprotect(pointer(mapped.low), mapped.high - mapped.low, PROT_READ | PROT_WRITE) != 0) return std::nullopt;
    return mapped;
  }
  mapped.low = round_down(address, kHugePage);
  mapped.high = mapped.low + kHugePage;
  if (!in_use(mapped.low)) return std::nullopt;
  // Includes the neighbouring pages of the last allocation only: enough for an access past its end, without a walk over
  // gigabytes.
  const auto above = ranges_.lower_bound(mapped.high);
  const Range& last = std::prev(above)->second;
  mapped.low = std::max(base_, std::min(mapped.low, round_down(last.low, kHugePage)));
  mapped.high = std::min(first_internal(), std::max(mapped.high, round_up(last.high, kHugePage)));
  if (mprotect(pointer(mapped.low), mapped.high - mapped.low, PROT_READ | PROT_WRITE) != 0) return std::nullopt;
  return mapped;
}

std::shared_ptr<const RangeTable> AddressSpace::snapshot() {
  const std::lock_guard lock(mutex_);
  if (!table_) {
    std::vector<Range> sorted;
    sorted.reserve(ranges_.size());
    for (const auto& [low, range] : ranges_) sorted.push_back(range);
    for (std::size_t k = 1; k < sorted.size(); ++k) WG_DEBUG_ASSERT(sorted[k - 1].low < sorted[k].low);
    table_ = std::make_shared<const RangeTable>(std::move(sorted), multicasts_);
  }
  return table_;
}

}  // namespace warpgrind::device
