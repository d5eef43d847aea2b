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

std::uint8_t* host_pointer(std::uint64_t address) {
  return reinterpret_cast<std::uint8_t*>(address);
}

}  // namespace

std::atomic<WrittenPages*> WrittenPages::begun_{nullptr};

WrittenPages& WrittenPages::instance() {
  static auto* const pages = new WrittenPages;  // never destroyed: the handler may run until the process ends
  return *pages;
}

// While one lives, no handler reads areas, states and store, and handlers that come wait.
class WrittenPages::Change {
 public:
  explicit Change(WrittenPages& pages) : pages_(pages) {
    pages_.is_changing_.store(true);
    while (pages_.copying_.load() > 0) sched_yield();
  }
  ~Change() { pages_.is_changing_.store(false); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  WrittenPages& pages_;
};

bool WrittenPages::begin(std::span<const Pages> ranges, std::uint64_t limit, const void* writer) {
  const std::lock_guard lock(mutex_);
  const bool handles = handles_protected_pages();
  // Then most pieces are still protected. That saves most of the time.
  const bool same = handles && active_.load() && !full_.load() && ranges.size() == areas_.size() &&
                    std::equal(ranges.begin(), ranges.end(), areas_.begin(), [](const Pages& p, const Area& area) {
                      return p.low == area.pages.low && p.high == area.pages.high;
                    });
  if (same)
    learn();
  else
    unprotect_all();
  const Change change(*this);
  used_ = 0;
  full_ = false;
  if (ranges.empty() || !handles || !PageStore::instance().extend(store_, 0, limit)) {
    if (same) unprotect_all();
    areas_.clear();
    return false;
  }
  if (!same) lay_out(ranges);
  limit_ = limit;
  writer_ = writer;
  if (expected_.size() >= kMostWriters && !expected_.contains(writer)) expected_.clear();
  Expected& expected = expected_[writer];
  active_.store(true);
  if (guard_all_but(expected.times++ % kLearnAgain != 0 ? expected.written : std::vector<Pages>())) return true;
  unprotect_all();
  return false;
}

// No piece is guarded.
void WrittenPages::lay_out(std::span<const Pages> ranges) {
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
  for (std::size_t k = 0; k < pieces; ++k) states_[k] = open;
  at_.assign(pieces, 0);
}

// Guards all pieces but those that are expected to be written, which are copied at once. These may not be written this
// time, but count against the limit, so that they get only a part of it. False: the host protects no more pages.
bool WrittenPages::guard_all_but(const std::vector<Pages>& expected) {
  std::uint64_t bytes = 0;
  for (const Pages& p : expected) bytes += p.high - p.low;
  const bool copies = bytes <= limit_ / 8;
  for (const Area& area : areas_) {
    auto next = std::lower_bound(expected.begin(), expected.end(), area.pages.low,
                                 [](const Pages& p, std::uint64_t low) { return p.high <= low; });
    Pages run{};  // of pieces that are to be guarded and are not
    for (std::size_t k = 0; k < area.pieces(); ++k) {
      const std::uint64_t low = area.low_of(k), high = area.high_of(k);
      std::atomic<std::uint8_t>& state = states_[area.first + k];
      while (next != expected.end() && next->high <= low) ++next;
      const bool is_expected = copies && next != expected.end() && next->low <= low && high <= next->high;
      const bool is_guarded = state.load() == guarded;
      if (is_expected) {
        if (is_guarded && !protect({low, high}, PROT_READ | PROT_WRITE)) return false;
        store_.write(used_, host_pointer(low), high - low);
        at_[area.first + k] = used_;
        used_ += high - low;
        state = open;
      } else if (!is_guarded) {
        if (run.high != low) {
          if (!protect(run, PROT_READ)) return false;
          run.low = low;
        }
        run.high = high;
        state = guarded;
      }
    }
    if (!protect(run, PROT_READ)) return false;
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

bool WrittenPages::protect(const Pages& pages, int how) {
  return pages.low == pages.high || mprotect(host_pointer(pages.low), pages.high - pages.low, how) == 0;
}

void WrittenPages::learn() {
  expected_[writer_].written = is_full() ? std::vector<Pages>() : open_pieces();
}

// Freed pages are not protected any more, and may have become another's. Async-signal-safe.
void WrittenPages::make_writable() const {
  for (const Area& area : areas_) {
    Pages run{};
    for (std::size_t k = 0; k < area.pieces(); ++k) {
      if (states_[area.first + k].load() == forgotten) continue;
      if (run.high != area.low_of(k)) {
        (void)protect(run, PROT_READ | PROT_WRITE);
        run.low = area.low_of(k);
      }
      run.high = area.high_of(k);
    }
    (void)protect(run, PROT_READ | PROT_WRITE);
  }
}

void WrittenPages::unprotect_all() {
  if (!active_.load()) return;
  make_writable();
  // A thread that faulted just before finds its piece open, and repeats its write.
  active_.store(false);
  learn();
}

void WrittenPages::end() {
  const std::lock_guard lock(mutex_);
  unprotect_all();
}

bool WrittenPages::lift_limit() {
  const std::lock_guard lock(mutex_);
  const Change change(*this);
  std::uint64_t total = used_;
  for (const Area& area : areas_) total += area.pages.high - area.pages.low;
  if (!PageStore::instance().extend(store_, used_, total)) return false;
  limit_ = std::max(limit_, total);
  return true;
}

KeptParts WrittenPages::hand_over() {
  const std::lock_guard lock(mutex_);
  const Change change(*this);
  KeptParts out;
  if (!active_.load()) return out;
  for (const Area& area : areas_)
    for (std::size_t k = 0; k < area.pieces(); ++k)
      if (states_[area.first + k].load() == open)
        out.parts.push_back({area.low_of(k), area.high_of(k) - area.low_of(k), at_[area.first + k]});
  out.bytes = used_;
  out.chunks = store_.take_first(used_);
  used_ = 0;
  limit_ = std::min(limit_, store_.bytes());
  return out;
}

void WrittenPages::copy_before_write(std::uint64_t low, std::uint64_t high) {
  const std::lock_guard lock(mutex_);
  if (!active_.load()) return;
  if (!handles_protected_pages()) return unprotect_all();
  for (const Area& area : areas_) {
    if (area.pages.high <= low || area.pages.low >= high) continue;
    for (std::size_t k = 0; k < area.pieces(); ++k)
      if (area.high_of(k) > low && area.low_of(k) < high) (void)copy_if_protected(area.low_of(k));
  }
}

// A piece that another thread of the parent was copying would stay `changing` for ever.
void WrittenPages::leave_after_fork() {
  WrittenPages* const pages = begun_.load();
  if (!pages) return;
  pages->copying_ = 0;
  if (pages->is_changing_.exchange(false)) return;  // the parent was in begin(): the list of areas may be half made
  if (pages->active_.exchange(false)) pages->make_writable();
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
  // Another thread may be in begin(), which changes the areas while no handler reads them.
  for (;;) {
    copying_.fetch_add(1);
    if (!is_changing_.load()) break;
    copying_.fetch_sub(1);
    sched_yield();
  }
  const bool done = copy_piece_of(address);
  copying_.fetch_sub(1);
  return done;
}

bool WrittenPages::copy_piece_of(std::uint64_t address) {
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
    (void)protect(area->pages, PROT_READ | PROT_WRITE);
  } else {
    store_.write(at, host_pointer(low), bytes);
    at_[index] = at;
    // The host may allow no more mappings. The write would then fault for ever.
    if (!protect({low, low + bytes}, PROT_READ | PROT_WRITE)) {
      full_.store(true);
      (void)protect(area->pages, PROT_READ | PROT_WRITE);
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
      store_.read(at_[area.first + k], host_pointer(low), area.high_of(k) - low);
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
      store_.read(at_[area.first + k] + (first - area.low_of(k)), out + (first - low), last - first);
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
