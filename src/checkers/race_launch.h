// The accesses of one launch, held against what is remembered of the words that they touch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "checkers/race_order.h"
#include "checkers/race_shadow.h"

namespace warpgrind::checkers {

enum class RaceKind : std::uint8_t { plain, warp, scope, async_copy, proxy, same_value, non_coherent };

// Two accesses that nothing orders. The first of all that are alike: pairs of sites, kind and space.
struct Race {
  RaceKind kind = RaceKind::plain;
  bool shared = false;
  bool one_instruction = false;  // two lanes of one instruction
  bool only_weakly = false;      // a shuffle or vote of the warp is between them
  bool volatile_lanes = false;   // lanes of a warp that rely on volatile
  bool sizes_differ = false;     // atomics of different width
  // The second thread's warp has not been where the first access is since the last barrier: it may get there later, and
  // the order in which the two happened says nothing.
  bool may_turn = false;
  Hint hint;
  Record first, second;
  unsigned first_lane = 0, second_lane = 0;
  std::uint64_t address = 0;  // of the first byte that both touch; shared: offset in the block's memory
  std::uint64_t count = 0;    // pairs of threads and words
  std::uint64_t blocks = 0;   // that it was seen in
  std::uint64_t last_block = ~std::uint64_t{0};
};

class LaunchRaces {
 public:
  explicit LaunchRaces(const events::Launch& launch);

  LaunchOrder& order() { return order_; }
  void begin_block(std::uint64_t block) { order_.begin(block); }
  void end_block(std::uint64_t block);
  void access(const events::Access& a);
  const events::Launch& launch() const { return launch_; }

  using Key = std::tuple<std::uint32_t, std::uint32_t, bool, RaceKind>;
  const std::map<Key, Race>& races() const { return races_; }
  // A plain read against atomics, and the reading thread goes on with a compare-and-swap, which finds out.
  bool is_guess(const Race& race) const;

 private:
  struct Step;  // one lane's part of an access
  std::uint32_t record_of(Shadow& shadow, const BlockOrder& block, const events::Access& a, std::uint64_t copy);
  void lane(Step& s, unsigned lane);
  void broadcast(Step& s, std::uint64_t copy);
  void word(Step& s, unsigned lane, std::uint64_t word, std::uint8_t bytes);
  void update_read(Step& s, unsigned lane, std::uint64_t word, std::uint8_t bytes, Cell& cell);
  void update_write(Step& s, unsigned lane, std::uint64_t word, std::uint8_t bytes, Cell& cell);
  bool test(Step& s, unsigned lane, std::uint64_t word, std::uint32_t before, unsigned before_lane, std::uint8_t bytes);
  bool test_fully(Step& s, unsigned lane, std::uint64_t word, std::uint32_t before, unsigned before_lane,
                  std::uint8_t bytes);
  void note_guess(const Step& s, unsigned lane, const Cell& cell);
  void found(const Step& s, unsigned lane, std::uint64_t address, const Record& first, unsigned first_lane,
             const Race& what);
  bool same_value(const Step& s, unsigned lane, std::uint64_t address, std::uint8_t bytes) const;
  Shadow& shared_of(const BlockOrder& block, std::uint64_t& offset);

  events::Launch launch_;
  LaunchOrder order_;
  Shadow global_;
  bool writes_global_ = false;
  std::map<std::uint64_t, std::unique_ptr<Shadow>> shared_;  // by block
  struct Last {                                              // the newest record of a site of a warp
    std::uint32_t record = 0;
  };
  std::map<std::tuple<const Shadow*, std::uint64_t, std::uint32_t>, std::vector<std::uint32_t>> last_;  // by site
  std::vector<std::uint32_t>* last_of_ = nullptr;  // of the warp before
  std::tuple<const Shadow*, std::uint64_t, std::uint32_t> last_key_;
  std::map<Key, Race> races_;
  std::set<std::uint32_t> guesses_;  // sites
};

}  // namespace warpgrind::checkers
