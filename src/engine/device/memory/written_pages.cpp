// Protection of pages, and copies of those that are written.
#include "device/memory/written_pages.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "device/memory/address_space.h"

namespace warpgrind::device {

namespace {

// Bytes of a piece. A fault takes some microseconds, and copies of more than is written take time, too. Pieces of large
// ranges are huge pages, which smaller ones would split.
constexpr std::uint64_t kSmallPiece = std::uint64_t{64} << 10, kLargePiece = std::uint64_t{2} << 20;
constexpr std::uint64_t kLargeRange = 2 * kLargePiece;
// Pieces of all ranges; each may become a mapping of the process, which Linux limits to 65530.
constexpr std::uint64_t kMostPieces = 16384;

void* host_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

std::atomic<WrittenPages*> WrittenPages::begun_{nullptr};

WrittenPages& WrittenPages::instance() {
  static auto* const pages = new WrittenPages;  // never destroyed: the handler may run until the process ends
  return *pages;
}

bool WrittenPages::begin(std::span<const Pages> ranges, std::uint64_t limit, const void* writer) {
  if (ranges.empty() || !handles_protected_pages()) return false;
  const std::lock_guard lock(mutex_);
  if (store_bytes_ < limit) {
    if (store_) munmap(store_, store_bytes_);
    void* made = mmap(nullptr, limit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    store_ = made == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(made);
    store_bytes_ = store_ ? limit : 0;
    if (!store_) return false;
    madvise(store_, store_bytes_, MADV_HUGEPAGE);
  }
  std::uint64_t total = 0;
  for (const Pages& p : ranges) total += p.high - p.low;
  std::uint64_t large = kLargePiece;
  while (total / large > kMostPieces / 2) large *= 2;
  begun_.store(this);
  areas_.clear();
  std::size_t pieces = 0;
  for (const Pages& p : ranges) {
    Area area{p, p.high - p.low >= kLargeRange || total / kSmallPiece > kMostPieces / 2 ? large : kSmallPiece, pieces};
    pieces += area.pieces();
    areas_.push_back(area);
  }
  if (state_capacity_ < pieces) {
    states_ = std::make_unique<std::atomic<std::uint8_t>[]>(pieces);
    state_capacity_ = pieces;
  }
  for (std::size_t k = 0; k < pieces; ++k) states_[k] = guarded;
  at_.assign(pieces, 0);
  used_ = 0;
  full_ = false;
  limit_ = limit;
  writer_ = writer;
  if (expected_.size() >= kMostWriters && !expected_.contains(writer)) expected_.clear();
  Expected& expected = expected_[writer];
  if (expected.times++ % kLearnAgain != 0) copy_expected(expected.written);
  active_.store(true);
  for (const Area& area : areas_) {
    if (protect(area)) continue;
    for (const Area& each : areas_) unprotect(each);
    active_.store(false);
    return false;
  }
  return true;
}

// Called while nothing is protected, so that no thread waits for a piece. Expected pieces may not be written this time,
// but count against the limit. They get only a part of it.
void WrittenPages::copy_expected(const std::vector<Pages>& written) {
  const std::uint64_t most = limit_ / 8;
  std::uint64_t bytes = 0;
  for (const Pages& p : written) bytes += p.high - p.low;
  if (bytes > most) return;
  for (const Area& area : areas_) {
    auto next = std::lower_bound(written.begin(), written.end(), area.pages.low,
                                 [](const Pages& p, std::uint64_t low) { return p.high <= low; });
    for (std::size_t k = 0; k < area.pieces() && next != written.end(); ++k) {
      const std::uint64_t low = area.low_of(k), high = area.high_of(k);
      while (next != written.end() && next->high <= low) ++next;
      if (next == written.end() || next->low > low || next->high < high) continue;
      std::memcpy(store_ + used_, host_pointer(low), high - low);
      at_[area.first + k] = used_;
      used_ += high - low;
      states_[area.first + k] = open;
    }
  }
}

bool WrittenPages::protect(const Area& area) {
  for (std::size_t k = 0; k < area.pieces();) {
    const std::size_t first = k;
    while (k < area.pieces() && states_[area.first + k] == guarded) ++k;
    if (k > first && mprotect(host_pointer(area.low_of(first)), area.high_of(k - 1) - area.low_of(first), PROT_READ))
      return false;
    if (k == first) ++k;
  }
  return true;
}

std::vector<Pages> WrittenPages::open_pieces() const {
  std::vector<Pages> out;
  for (const Area& area : areas_) {
    for (std::size_t k = 0; k < area.pieces(); ++k) {
      if (states_[area.first + k] != open) continue;
      if (out.empty() || out.back().high != area.low_of(k)) out.push_back({area.low_of(k), 0});
      out.back().high = area.high_of(k);
    }
  }
  return out;
}

void WrittenPages::unprotect(const Area& area) {
  mprotect(host_pointer(area.pages.low), area.pages.high - area.pages.low, PROT_READ | PROT_WRITE);
}

void WrittenPages::end() {
  const std::lock_guard lock(mutex_);
  if (!active_.load()) return;
  for (const Area& area : areas_) unprotect(area);
  // A thread that faulted just before finds its piece open, and repeats its write.
  active_.store(false);
  expected_[writer_].written = is_full() ? std::vector<Pages>() : open_pieces();
}

// A piece that another thread of the parent was copying would stay `changing` for ever.
void WrittenPages::leave_after_fork() {
  WrittenPages* const pages = begun_.load();
  if (!pages || !pages->active_.load()) return;
  for (const Area& area : pages->areas_) unprotect(area);
  pages->active_.store(false);
}

const WrittenPages::Area* WrittenPages::find(std::uint64_t address) const {
  const auto after = std::upper_bound(areas_.begin(), areas_.end(), address,
                                      [](std::uint64_t a, const Area& area) { return a < area.pages.low; });
  if (after == areas_.begin() || address >= (after - 1)->pages.high) return nullptr;
  return &*(after - 1);
}

// Two threads may write to a piece at the same time. One copies it.
void WrittenPages::lock_piece(std::size_t index) {
  for (;;) {
    std::uint8_t state = states_[index].load(std::memory_order_acquire);
    if (state != changing && states_[index].compare_exchange_weak(state, changing)) return;
    sched_yield();
  }
}

bool WrittenPages::copy_if_protected(std::uint64_t address) {
  const Area* area = find(address);
  if (!area) return false;
  if (!active_.load()) return true;  // end() has just made it writable
  const std::size_t k = address / area->piece - area->pages.low / area->piece, index = area->first + k;
  for (;;) {
    std::uint8_t state = states_[index].load(std::memory_order_acquire);
    if (state == open || state == forgotten) return true;
    if (state == guarded && states_[index].compare_exchange_weak(state, changing)) break;
    sched_yield();
  }
  const std::uint64_t low = area->low_of(k), bytes = area->high_of(k) - low;
  const std::uint64_t at = used_.fetch_add(bytes);
  if (at + bytes > limit_) {
    full_.store(true);
    unprotect(*area);
  } else {
    std::memcpy(store_ + at, host_pointer(low), bytes);
    at_[index] = at;
    // The host may allow no more mappings. The write would then fault for ever.
    if (mprotect(host_pointer(low), bytes, PROT_READ | PROT_WRITE) != 0) {
      full_.store(true);
      unprotect(*area);
    }
  }
  states_[index].store(open, std::memory_order_release);
  return true;
}

void WrittenPages::restore() {
  const std::lock_guard lock(mutex_);
  for (const Area& area : areas_) {
    for (std::size_t k = 0; k < area.pieces(); ++k) {
      if (states_[area.first + k].load(std::memory_order_acquire) != open) continue;
      const std::uint64_t low = area.low_of(k);
      std::memcpy(host_pointer(low), store_ + at_[area.first + k], area.high_of(k) - low);
    }
  }
}

void WrittenPages::copy_before(std::uint64_t low, std::uint64_t high, std::uint8_t* out) {
  const std::lock_guard lock(mutex_);
  for (const Area& area : areas_) {
    if (area.pages.high <= low || area.pages.low >= high) continue;
    for (std::size_t k = 0; k < area.pieces(); ++k) {
      const std::uint64_t first = std::max(low, area.low_of(k)), last = std::min(high, area.high_of(k));
      if (first >= last || states_[area.first + k].load(std::memory_order_acquire) != open) continue;
      std::memcpy(out + (first - low), store_ + at_[area.first + k] + (first - area.low_of(k)), last - first);
    }
  }
}

void WrittenPages::forget(std::uint64_t low, std::uint64_t high) {
  const std::lock_guard lock(mutex_);
  forget_locked(low, high);
}

void WrittenPages::exclude(std::uint64_t low, std::uint64_t high) {
  const std::lock_guard lock(mutex_);
  forget_locked(low, high);
  excluded_.push_back({low, high});
}

bool WrittenPages::is_excluded(std::uint64_t low, std::uint64_t high) {
  const std::lock_guard lock(mutex_);
  return std::any_of(excluded_.begin(), excluded_.end(), [&](const Pages& p) { return low < p.high && p.low < high; });
}

void WrittenPages::forget_locked(std::uint64_t low, std::uint64_t high) {
  if (!active_.load()) return;
  for (const Area& area : areas_) {
    if (area.pages.high <= low || area.pages.low >= high) continue;
    for (std::size_t k = 0; k < area.pieces(); ++k) {
      if (area.high_of(k) <= low || area.low_of(k) >= high) continue;
      lock_piece(area.first + k);
      mprotect(host_pointer(area.low_of(k)), area.high_of(k) - area.low_of(k), PROT_READ | PROT_WRITE);
      states_[area.first + k].store(forgotten, std::memory_order_release);
    }
  }
}

}  // namespace warpgrind::device
