#include "timing/ledger.h"

#include <utility>

namespace warpgrind::timing {

Ledger::EntryPtr Ledger::open(Place place) {
  auto entry = std::make_shared<Entry>();
  entry->place = std::move(place);
  const std::lock_guard lock(mutex_);
  entry->number = next_++;
  entries_.push_back(entry);
  return entry;
}

void Ledger::close(const EntryPtr& entry) {
  std::unique_lock lock(mutex_);
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
  Place place = std::exchange(entry->place, {});
  lock.unlock();
  place();
  place = nullptr;  // what it holds may add to this ledger when it goes
  lock.lock();
  entry->placed = true;
}

// An entry leaves the list when it has been placed, not before: who waits for it must see what it did.
void Ledger::place_front(std::unique_lock<std::mutex>& lock) {
  if (placing_) return;
  placing_ = true;
  while (!entries_.empty() && entries_.front()->closed) {
    const EntryPtr entry = entries_.front();
    if (!entry->placed) run(lock, entry);
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
    const EntryPtr entry = entries_[i];  // none leaves the list meanwhile
    if (entry->closed && !entry->placed) run(lock, entry);
  }
  placing_ = false;
  place_front(lock);
}

}  // namespace warpgrind::timing
