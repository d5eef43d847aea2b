// Per-launch state of a checker, while the launch runs. The workers of a launch usually find it without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "events/events.h"

namespace warpgrind::checkers {

template <class State>
class LaunchStates {
 public:
  // Call when the launch begins.
  State& add(const events::Launch& launch, std::unique_ptr<State> state) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<State>& kept = states_[launch.id] = std::move(state);
    Slot& slot = slot_of(launch);
    if (slot.launch.load(std::memory_order_relaxed) == kNone) {  // else a much older launch still uses the slot
      slot.state = kept.get();
      slot.launch.store(launch.id, std::memory_order_release);
    }
    return *kept;
  }
  // null: nothing was added. Call only while the launch runs, from its workers, or when it begins.
  State* find(const events::Launch& launch) {
    const Slot& slot = slot_of(launch);
    if (slot.launch.load(std::memory_order_acquire) == launch.id) return slot.state;
    const std::lock_guard lock(mutex_);
    const auto it = states_.find(launch.id);
    return it == states_.end() ? nullptr : it->second.get();
  }
  // Call when the launch has ended. null: nothing was added.
  std::unique_ptr<State> take(const events::Launch& launch) {
    const std::lock_guard lock(mutex_);
    Slot& slot = slot_of(launch);
    if (slot.launch.load(std::memory_order_relaxed) == launch.id) slot.launch.store(kNone, std::memory_order_release);
    auto node = states_.extract(launch.id);
    return node.empty() ? nullptr : std::move(node.mapped());
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::size_t kSlots = 64;
  struct Slot {
    std::atomic<std::uint64_t> launch{kNone};
    State* state = nullptr;
  };
  Slot& slot_of(const events::Launch& launch) { return slots_[launch.id % kSlots]; }

  std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<State>> states_;  // by launch
  std::array<Slot, kSlots> slots_;
};

}  // namespace warpgrind::checkers
