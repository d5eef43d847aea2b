// Work ends in any order, but it is placed on the timeline in the order in which it was issued, so that virtual times
// do not depend on how fast this machine did what. An entry is opened when work is issued and closed when its duration
// is known; entries are placed from the front, one after the other, each by a function that the issuer gave.
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
  // Something that needs no work: placed at once when all before it are, else in its turn.
  void add(Place place);

  std::uint64_t last() const;  // number of the last entry
  bool placed_through(std::uint64_t number) const;
  // Places what is closed up to `number` out of turn, without what is still open.
  void place_closed(std::uint64_t number);

 private:
  void place_front(std::unique_lock<std::mutex>& lock);
  void run(std::unique_lock<std::mutex>& lock, const EntryPtr& entry);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<EntryPtr> entries_;  // not placed, in order of number
  std::uint64_t next_ = 1;
  bool placing_ = false;  // some thread runs a Place; it goes on with those that follow
};

}  // namespace warpgrind::timing
