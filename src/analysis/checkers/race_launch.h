// Race detection for one launch: compares each access with the earlier accesses to the same words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "checkers/race_order.h"
#include "checkers/race_shadow.h"

namespace warpgrind::checkers {

enum class RaceKind : std::uint8_t {
  plain,
  warp,
  scope,
  async_copy,
  product,  // operands of wgmma or tcgen05 in shared memory
  proxy,
  same_value,
  non_coherent
};

// Two accesses without order between them: the first such pair with these two sites, kind and space.
struct Race {
  RaceKind kind = RaceKind::plain;
  bool shared = false;
  bool one_instruction = false;  // two lanes of one instruction
  bool only_weakly = false;      // only a shuffle or vote of the warp is between them
  bool volatile_lanes = false;   // lanes of a warp that rely on volatile
  bool sizes_differ = false;     // atomics of different width
  bool copy_waited = false;      // first is a copy: its own thread has waited for it, the second access's thread not
  WrongWait wrong_wait;          // first is a copy: of the second access's warp
  bool async_store = false;      // first is a st.async or red.async
  bool lacks_acquire = false;    // the second thread has read the flag behind the first access by a relaxed operation
  std::optional<std::uint32_t> others_arrive;  // in one block: LaunchOrder::wait_without_arrival()
  bool barrier_between = false;  // first is a copy of the same block: a barrier of the block follows its issue
  // The second thread's warp has not executed the first access's site since the last barrier, and the first access came
  // after that barrier. The warp may do so later, so the observed order of the two accesses means nothing.
  bool may_turn = false;
  Hint hint;
  Record first, second;
  unsigned first_lane = 0, second_lane = 0;
  std::uint64_t address = 0;  // first byte that both touch; shared: offset in the block's memory
  std::uint64_t count = 0;    // pairs of accesses, per thread and word
  std::uint64_t blocks = 0;   // number of blocks with this race
  std::uint64_t last_block = ~std::uint64_t{0};
};

class QuickAccess;

class LaunchRaces {
 public:
  // global: shadow of an earlier launch to reuse, already cleared by forget(); or null.
  LaunchRaces(const events::Launch& launch, std::unique_ptr<Shadow> global);
  std::unique_ptr<Shadow> take_global() { return std::move(global_); }

  LaunchOrder& order() { return order_; }
  const LaunchOrder& order() const { return order_; }
  void begin_block(const events::BlockEvent& e);
  void end_block(std::uint64_t block);
  void access(const events::Access& a);
  // False: the caller must call access() for it, too. What is already recorded does no harm.
  bool affine_access(const events::AffineAccess& a);
  // Processes the block's log of late loads (events/late_loads.h). Call it before an event that changes the order of
  // the block's threads. A barrier of the whole block needs no such call: barrier_passed() then drops the log.
  void process_late_loads(std::uint64_t block);
  void barrier_passed(BlockOrder& block, const events::BarrierPassed& e);
  BlockOrder* find(std::uint64_t block);
  const events::Launch& launch() const { return launch_; }

  // Most races examined for each pair of sites. Further ones would add no information.
  static constexpr std::uint64_t kEnough = 10000;
  using Key = std::tuple<std::uint32_t, std::uint32_t, bool, RaceKind>;
  const std::map<Key, Race>& races() const { return races_; }
  // Called with each new race while the second access is made, or when a late load is processed.
  using OnRace = std::function<void(const LaunchRaces& in, const Race& race)>;
  void announce_to(OnRace on_race) { on_race_ = std::move(on_race); }
  // Plain read against an atomic, where the reading thread then executes a compare-and-swap, which detects a stale
  // value.
  bool is_guess(const Race& race) const;
  // Role of a site that reads its operands by the async proxy; none: of other sites.
  SiteRole product_role(std::uint32_t site) const { return site < products_.size() ? products_[site] : SiteRole::none; }

 private:
  struct Step;  // one lane's part of an access
  // Newest record of a warp at one site, for its reads or its writes, and when it was made.
  struct Newest {
    std::uint32_t record = 0, turn = 0, tick = 0, weak = 0;
    std::uint64_t copy = 0;
  };
  using Last = std::vector<Newest>;
  // State of one block. Later blocks reuse it, with its allocations.
  struct Running {
    std::unique_ptr<BlockOrder> order;  // null: the block has not begun
    events::LateLoads* late = nullptr;  // null: late loads are not used
    std::vector<events::LateLoad> late_memory;
    unsigned row = kWarpSize;
    std::unique_ptr<Shadow> shared;
    std::vector<Last> last_shared, last_global;  // by warp
    // epoch: of the last access. turn: counts epochs, over all blocks that have used this state. shared_turn: turn of
    // the newest record in `shared`.
    std::uint32_t epoch = 0, turn = 0, shared_turn = 0;
  };
  // Index in Last of a site's loads or stores. All unknown sites share one index.
  std::size_t slot(std::uint32_t site, bool writes) const {
    return std::min<std::size_t>(site, kinds_.size() / 2 - 1) * 2 + writes;
  }
  Running* running(std::uint64_t block);
  const Running* find_running(std::uint64_t block) const;
  static void open_late_loads(Running& of);
  void process_late_loads(Running& of);
  bool note(const events::AffineAccess& a, Running& of);
  static bool note_row(QuickAccess& quick, const events::AffineAccess& a, unsigned lane0, LaneMask lanes);
  static bool note_one_place(QuickAccess& quick, const events::AffineAccess& a, std::uint64_t address, LaneMask lanes);
  void compare(const events::Access& a, Running& of);
  Last& last_of(const Shadow& shadow, Running& of, std::uint32_t warp);
  std::uint32_t record_of(Shadow& shadow, Running& of, std::uint32_t warp, const AccessKind& kind, std::uint64_t copy);
  QuickAccess quick_of(Shadow& shadow, Running& of, const WarpOrder& warp, std::uint32_t warp_index,
                       std::uint32_t record) const;
  static std::uint8_t owner_of(const events::Site& site, std::map<std::string, std::uint8_t>& accumulators);
  bool is_exact(const BlockOrder& block, const WarpOrder& warp) const {
    return order_.orders_blocks() || block.fine || warp.pairs;
  }
  AccessKind kind_of(const events::Access& a) const;
  const AccessKind& kind_of(const events::AffineAccess& a);
  void lane(Step& s, unsigned in_event, unsigned lane);
  bool broadcast(Step& s, std::uint64_t copy);
  void word(Step& s, unsigned lane, std::uint64_t word, std::uint8_t bytes);
  struct PartOfWord {
    Line& line;
    std::uint64_t word;
    std::uint8_t bytes;  // mask
  };
  void update_read(Step& s, unsigned lane, const PartOfWord& what, Cell& cell);
  void update_write(Step& s, unsigned lane, const PartOfWord& what, Cell& cell);
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
  bool writes_global_ = false;  // the kernel writes global memory that several threads may access
  // A barrier of the block orders all earlier accesses to shared memory before all later ones, since no asynchronous
  // copy and no other block can reach that memory. Records before the barrier are dropped.
  bool forgets_epochs_ = false;
  using Blocks = std::map<std::uint64_t, std::unique_ptr<Running>>;
  Blocks blocks_;
  std::uint64_t last_number_ = 0;  // block of last_running_
  Running* last_running_ = nullptr;
  std::vector<Blocks::node_type> ended_;
  std::vector<AccessKind> kinds_;     // of affine accesses, indexed as Last
  std::vector<std::uint8_t> owners_;  // Stamp::owner, by site
  std::vector<SiteRole> products_;    // by site: product_role()
  // Accesses to other blocks' shared memory, by that memory, and the accessing block and warp.
  std::map<std::tuple<const Shadow*, std::uint64_t, std::uint32_t>, Last> last_elsewhere_;
  Last* last_of_ = nullptr;  // of the current access
  static std::uint64_t pair(std::uint32_t first, std::uint32_t second, bool shared) {
    return std::uint64_t{first} << 33 | std::uint64_t{second} << 1 | (shared ? 1 : 0);
  }
  std::map<Key, Race> races_;
  OnRace on_race_;                            // empty: no debugger
  std::unordered_set<std::uint64_t> enough_;  // pair() of sites with kEnough races
  std::set<std::uint32_t> guesses_;           // sites of reads, see is_guess()
};

}  // namespace warpgrind::checkers
