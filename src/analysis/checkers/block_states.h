// Per-block state of a checker, while the block runs. A worker is one host thread that runs one grid at a time, so the
// states are thread-local and need no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/per_thread.h"
#include "checkers/kernel_place.h"
#include "events/events.h"

namespace warpgrind::checkers {

// State::clear() resets a state. The next block reuses the state and its allocations.
template <class State>
class BlockStates {
 public:
  // The block's state; a new one if it has none.
  State& of(const events::Launch& launch, const Dim3& block) {
    Kept& kept = kept_here(launch);
    const std::uint64_t linear = linear_block(launch, block);
    if (!kept.last || kept.last_block != linear) {
      kept.last = &kept.state(linear);  // stays where it is until it is erased
      kept.last_block = linear;
    }
    return *kept.last;
  }
  // Call when the block has ended.
  void erase(const events::Launch& launch, const Dim3& block) {
    Kept& kept = kept_here(launch);
    kept.last = nullptr;
    auto node = kept.states.extract(linear_block(launch, block));
    if (node.empty()) return;
    node.mapped().clear();
    kept.spare.push_back(std::move(node));
  }

 private:
  using States = std::unordered_map<std::uint64_t, State>;  // by linear block number
  struct Kept {
    std::uint64_t owner = 0, launch = 0, last_block = 0;
    State* last = nullptr;
    States states;
    std::vector<typename States::node_type> spare;
    State& state(std::uint64_t linear) {
      if (spare.empty() || states.contains(linear)) return states[linear];
      auto node = std::move(spare.back());
      spare.pop_back();
      node.key() = linear;
      return states.insert(std::move(node)).position->second;
    }
  };
  Kept& kept_here(const events::Launch& launch) {
    Kept& kept = per_thread<Kept>();
    if (kept.owner != owner_ || kept.launch != launch.id) {  // a stopped grid leaves its states behind
      kept.owner = owner_;
      kept.launch = launch.id;
      kept.last = nullptr;
      kept.states.clear();
    }
    return kept;
  }
  static inline std::atomic<std::uint64_t> owners_{0};
  const std::uint64_t owner_ = ++owners_;
};

}  // namespace warpgrind::checkers
