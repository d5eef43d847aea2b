// The accesses of one launch, held against what is remembered of the words that they touch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_set>
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

class QuickAccess;

class LaunchRaces {
 public:
  // global: of launches before, whose accesses it has forgotten; or null.
  LaunchRaces(const events::Launch& launch, std::unique_ptr<Shadow> global);
  std::unique_ptr<Shadow> take_global() { return std::move(global_); }

  LaunchOrder& order() { return order_; }
  void begin_block(const events::BlockEvent& e);
  void end_block(std::uint64_t block);
  void access(const events::Access& a);
  // False: access() is to be told, too; what has been noted by then changes nothing.
  bool affine_access(const events::AffineAccess& a);
  // What machine code has noted of the block (events/late_loads.h) counts as told: before anything changes what its
  // threads know of each other. Barriers of the whole block make it needless, and are told here.
  void tell_late_loads(std::uint64_t block);
  void barrier_passed(BlockOrder& block, const events::BarrierPassed& e);
  BlockOrder* find(std::uint64_t block);
  const events::Launch& launch() const { return launch_; }

  // Pairs of accesses at two sites that are looked at; so many of them race that one more says nothing.
  static constexpr std::uint64_t kEnough = 10000;
  using Key = std::tuple<std::uint32_t, std::uint32_t, bool, RaceKind>;
  const std::map<Key, Race>& races() const { return races_; }
  // A plain read against atomics, and the reading thread goes on with a compare-and-swap, which finds out.
  bool is_guess(const Race& race) const;

 private:
  struct Step;  // one lane's part of an access
  // The newest record of each site of a warp, for reads and for writes, and when it was made.
  struct Newest {
    std::uint32_t record = 0, turn = 0, tick = 0, weak = 0;
    std::uint64_t copy = 0;
  };
  using Last = std::vector<Newest>;
  // A block. It is used again for later ones, with what has been allocated.
  struct Running {
    std::unique_ptr<BlockOrder> order;  // null: it has not begun
    events::LateLoads* late = nullptr;  // the block's, if they are used
    std::vector<events::LateLoad> late_memory;
    unsigned row = kWarpSize;
    std::unique_ptr<Shadow> shared;
    std::vector<Last> last_shared, last_global;  // by warp
    // The last access was in this epoch; how many there were, of all blocks that it has been; when its shared memory's
    // records began.
    std::uint32_t epoch = 0, turn = 0, shared_turn = 0;
  };
  // Of a site's loads or stores, in Last. All that is of no known site is one.
  std::size_t slot(std::uint32_t site, bool writes) const {
    return std::min<std::size_t>(site, kinds_.size() / 2 - 1) * 2 + writes;
  }
  Running* running(std::uint64_t block);
  static void open_late_loads(Running& of);
  void tell_late_loads(Running& of);
  bool note(const events::AffineAccess& a, Running& of);
  static bool note_row(QuickAccess& quick, const events::AffineAccess& a, unsigned lane0, LaneMask lanes);
  static bool note_one_place(QuickAccess& quick, const events::AffineAccess& a, std::uint64_t address, LaneMask lanes);
  void compare(const events::Access& a, Running& of);
  Last& last_of(const Shadow& shadow, Running& of, std::uint32_t warp);
  std::uint32_t record_of(Shadow& shadow, Running& of, std::uint32_t warp, const AccessKind& kind, std::uint64_t copy);
  QuickAccess quick_of(Shadow& shadow, Running& of, const WarpOrder& warp, std::uint32_t warp_index,
                       std::uint32_t record) const;
  bool is_exact(const BlockOrder& block, const WarpOrder& warp) const {
    return order_.orders_blocks() || block.fine || warp.pairs;
  }
  AccessKind kind_of(const events::Access& a) const;
  const AccessKind& kind_of(const events::AffineAccess& a);
  void lane(Step& s, unsigned lane);
  bool broadcast(Step& s, std::uint64_t copy);
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
  Shadow& shared_of(Running& block, std::uint64_t& offset);

  events::Launch launch_;
  LaunchOrder order_;
  std::unique_ptr<Shadow> global_;
  bool looks_at_global(std::uint32_t site) const { return writes_global_ && !launch_.is_own(site); }
  bool writes_global_ = false;  // where threads may meet
  // Accesses to shared memory before a barrier of the block are ordered before all that may come: no asynchronous copy,
  // nor another block, reaches it.
  bool forgets_epochs_ = false;
  using Blocks = std::map<std::uint64_t, std::unique_ptr<Running>>;
  Blocks blocks_;
  std::uint64_t last_number_ = 0;  // of the block that was asked for before
  Running* last_running_ = nullptr;
  std::vector<Blocks::node_type> ended_;
  std::vector<AccessKind> kinds_;  // of affine accesses: loads and stores of each site, as Last
  // Of warps in other blocks' shared memory, by that block.
  std::map<std::tuple<const Shadow*, std::uint64_t, std::uint32_t>, Last> last_elsewhere_;
  Last* last_of_ = nullptr;  // of the access now
  static std::uint64_t pair(std::uint32_t first, std::uint32_t second, bool shared) {
    return std::uint64_t{first} << 33 | std::uint64_t{second} << 1 | (shared ? 1 : 0);
  }
  std::map<Key, Race> races_;
  std::unordered_set<std::uint64_t> enough_;  // pairs of sites
  std::set<std::uint32_t> guesses_;           // sites
};

}  // namespace warpgrind::checkers
