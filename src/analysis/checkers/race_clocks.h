// What a thread knows of others: which of their accesses are ordered before what it does next ("happens before" of the
// PTX memory model). Threads are told apart by block, warp and lane; most of what is known is known of whole warps and
// blocks, and is kept so.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace warpgrind::checkers {

// A set of facts "of this block, all accesses of epochs before N", "of this warp (lane), all accesses of ticks before
// N", "this asynchronous copy of this lane is over". Blocks by their linear number.
class Knowledge {
 public:
  void learn_block(std::uint64_t block, std::uint32_t epoch) { learn(key(block, Kind::block, 0, 0), epoch); }
  void learn_warp(std::uint64_t block, std::uint32_t warp, std::uint32_t tick) {
    learn(key(block, Kind::warp, warp, 0), tick);
  }
  void learn_lane(std::uint64_t block, std::uint32_t warp, std::uint32_t lane, std::uint32_t tick) {
    learn(key(block, Kind::lane, warp, lane), tick);
  }
  void learn_copy(std::uint64_t copy, std::uint32_t lane) { learn(key(copy, Kind::copy, 0, lane), 1); }
  void join(const Knowledge& other);

  bool knows(std::uint64_t block, std::uint32_t warp, std::uint32_t lane, std::uint32_t epoch,
             std::uint32_t tick) const;
  bool knows_copy(std::uint64_t copy, std::uint32_t lane) const { return find(key(copy, Kind::copy, 0, lane)) != 0; }
  bool empty() const { return facts_.empty(); }

  // Takes away what is known of one block's threads; calls f(copy, lane) for each copy, and takes it away where f says
  // so.
  void forget_block(std::uint64_t block);
  template <class F>
  void take_copies(F&& f) {
    std::erase_if(facts_, [&](const auto& fact) {
      return static_cast<Kind>(fact.first >> 10 & 3) == Kind::copy &&
             f(fact.first >> 12, static_cast<std::uint32_t>(fact.first & 31));
    });
  }

 private:
  enum class Kind : std::uint8_t { block, warp, lane, copy };
  static std::uint64_t key(std::uint64_t of, Kind kind, std::uint32_t warp, std::uint32_t lane) {
    return of << 12 | static_cast<std::uint64_t>(kind) << 10 | std::uint64_t{warp} << 5 | lane;
  }
  void learn(std::uint64_t key, std::uint32_t value);
  std::uint32_t find(std::uint64_t key) const;  // 0: nothing

  std::vector<std::pair<std::uint64_t, std::uint32_t>> facts_;  // sorted by key
};

using Shared = std::shared_ptr<const Knowledge>;  // null: nothing
Shared joined(const Shared& a, const Shared& b);

}  // namespace warpgrind::checkers
