// Knowledge of a thread about others: which of their accesses happen before its next one (PTX memory model). A thread
// is a block, warp and lane. Most facts hold for whole warps or blocks and are stored that way.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace warpgrind::checkers {

// Set of facts: "all accesses of this block in epochs before N", "all accesses of this warp (or lane) at ticks before
// N", "this asynchronous copy of this lane is complete". And of wgmma: "the products of this warp are complete up to
// group N". A block is its linear number.
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
  // Groups of products that a warp has committed: of wgmma and of tcgen05.
  enum class Unit : std::uint8_t { wgmma, tcgen05 };
  static constexpr std::size_t kUnits = 2;
  void learn_products(Unit unit, std::uint64_t block, std::uint32_t warp, std::uint32_t groups) {
    learn(key(block, Kind::warp, warp, kProducts + static_cast<std::uint32_t>(unit)), groups);
  }
  void join(const Knowledge& other);

  bool knows(std::uint64_t block, std::uint32_t warp, std::uint32_t lane, std::uint32_t epoch,
             std::uint32_t tick) const;
  bool knows_copy(std::uint64_t copy, std::uint32_t lane) const { return find(key(copy, Kind::copy, 0, lane)) != 0; }
  std::uint32_t products(Unit unit, std::uint64_t block, std::uint32_t warp) const {
    return find(key(block, Kind::warp, warp, kProducts + static_cast<std::uint32_t>(unit)));
  }
  bool empty() const { return facts_.empty(); }

  // Removes the facts about one block's threads and products.
  void forget_block(std::uint64_t block);
  // Calls f(copy, lane) for each complete copy, and removes the fact if f returns true.
  template <class F>
  void take_copies(F&& f) {
    std::erase_if(facts_, [&](const auto& fact) {
      return static_cast<Kind>(fact.first >> 10 & 3) == Kind::copy &&
             f(fact.first >> 12, static_cast<std::uint32_t>(fact.first & 31));
    });
  }

 private:
  enum class Kind : std::uint8_t { block, warp, lane, copy };
  static constexpr std::uint32_t kProducts = 1;  // in the place of the lane, of Kind::warp; plus the unit
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
