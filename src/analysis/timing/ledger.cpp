// Ledger: places closed entries in issue order.
#include "timing/ledger.h"

#include <utility>

#include "base/assert.h"

namespace warpgrind::timing {

Ledger::EntryPtr Ledger::open(Place place) {
  auto entry = std::make_shared<Entry>();
  entry->place = std::move(place);
  const std::lock_guard lock(mutex_);
  entry->number = next_++;
  WG_ASSERT(entries_.empty() || entries_.back()->number + 1 == entry->number);
  entries_.push_back(entry);
  return entry;
}

void Ledger::close(const EntryPtr& entry) {
  std::unique_lock lock(mutex_);
  WG_ASSERT(entry && !entry->closed && !entry->placed);
  entry->closed = true;
  place_front(lock);
}

void Ledger::add(Place place) {
  auto entry = std::make_shared<Entry>();
  entry->place = std::move(place);
  entry->closed = true;
  std::unique_lock lock(mutex_);
  entry->number = next_++;
  entries_.push_back(std::move(entry));
  place_front(lock);
}

std::uint64_t Ledger::last() const {
  const std::lock_guard lock(mutex_);
  return next_ - 1;
}

bool Ledger::placed_through(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return entries_.empty() || entries_.front()->number > number;
}

void Ledger::run(std::unique_lock<std::mutex>& lock, const EntryPtr& entry) {
  WG_ASSERT(lock.owns_lock() && entry->closed && placing_);
  Place place = std::exchange(entry->place, {});
  lock.unlock();
  place();
  place = nullptr;  // without the lock: destroying its captures may add to this ledger
  lock.lock();
  entry->placed = true;
}

// An entry leaves the list only after it was placed: a thread that waits for it must see its effect.
void Ledger::place_front(std::unique_lock<std::mutex>& lock) {
  if (placing_) return;
  placing_ = true;
  while (!entries_.empty() && entries_.front()->closed) {
    const EntryPtr entry = entries_.front();
    if (!entry->placed) run(lock, entry);
    WG_ASSERT(entries_.front() == entry && entry->placed);
    entries_.pop_front();
  }
  placing_ = false;
  changed_.notify_all();
}

void Ledger::place_closed(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !placing_; });
  placing_ = true;
  for (std::size_t i = 0; i < entries_.size() && entries_[i]->number <= number; ++i) {
    const EntryPtr entry = entries_[i];  // no entry leaves the list while placing_ is set
    if (entry->closed && !entry->placed) run(lock, entry);
  }
  placing_ = false;
  place_front(lock);
}

}  // namespace warpgrind::timing
