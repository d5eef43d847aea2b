// Queue that places work on the timeline in issue order, although work ends in any order. So virtual times do not
// depend on the speed of this machine. An entry is opened when work is issued and closed when its duration is known.
// Entries are placed from the front, one by one, each by a function from the issuer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace warpgrind::timing {

class Ledger {
 public:
  using Place = std::function<void()>;
  struct Entry {
    Place place;
    std::uint64_t number = 0;  // in issue order, from 1
    bool closed = false, placed = false;
  };
  using EntryPtr = std::shared_ptr<Entry>;

  EntryPtr open(Place place);
  void close(const EntryPtr& entry);
  // Adds an entry that is closed already: it is placed at once if all before it are, else in its turn.
  void add(Place place);

  std::uint64_t last() const;  // number of the last entry
  bool placed_through(std::uint64_t number) const;
  // Places all closed entries up to `number` now; skips entries that are still open.
  void place_closed(std::uint64_t number);

 private:
  void place_front(std::unique_lock<std::mutex>& lock);
  void run(std::unique_lock<std::mutex>& lock, const EntryPtr& entry);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<EntryPtr> entries_;  // not placed yet, in order of number
  std::uint64_t next_ = 1;
  bool placing_ = false;  // a thread runs a Place, and will continue with the following entries
};

}  // namespace warpgrind::timing
