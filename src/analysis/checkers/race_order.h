// Who is ordered before whom in a launch: barriers of all kinds, warp syncs with masks, fences and release and acquire
// patterns, mbarriers, asynchronous copies, clusters. Which construct orders whom: PTX ISA, "Memory Consistency Model",
// and docs/checks.md.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "checkers/race_clocks.h"
#include "events/events.h"

namespace warpgrind::checkers {

// When and by whom an access was made; of all lanes of a warp instruction.
struct Stamp {
  std::uint64_t block = 0;  // linear
  std::uint64_t copy = 0;   // of an asynchronous copy: its group; 0: the thread itself did it
  std::uint32_t epoch = 0;  // barriers of the whole block passed
  std::uint32_t tick = 0;   // of its warp
  std::uint32_t weak = 0;   // shuffles and votes of its whole warp
  std::uint8_t warp = 0;
};

// What a lane knew at a moment. Made into Knowledge only when it is given away.
struct Moment {
  std::uint32_t epoch = 0, synced = 0, tick = 0;
  Shared lane, warp, block;
  bool set = false;
};

struct LaneOrder {
  Shared known;                     // beyond what its warp and its block know
  Shared beyond_scope;              // what it would know if scopes were wide enough
  Shared seen;                      // by relaxed reads of flags: orders no more than later writes after earlier reads
  Shared pending_cta, pending_gpu;  // seen by relaxed reads: known after a fence
  Moment fence;                     // the last
  events::MemoryScope fence_scope = events::MemoryScope::none;
  std::vector<std::vector<std::uint64_t>> groups, bulk_groups;  // committed asynchronous copies, the oldest first
  std::vector<std::uint64_t> open, bulk_open;                   // not committed yet
};

// Most kernels have no lane that knows anything of its own: made when one does.
class LaneOrders {
 public:
  LaneOrder& operator[](unsigned lane) {
    if (!all_) all_ = std::make_unique<std::array<LaneOrder, kWarpSize>>();
    return (*all_)[lane];
  }
  const LaneOrder& operator[](unsigned lane) const {
    static const LaneOrder kNothing;
    return all_ ? (*all_)[lane] : kNothing;
  }
  LaneOrder* begin() { return all_ ? all_->data() : nullptr; }
  LaneOrder* end() { return all_ ? all_->data() + kWarpSize : nullptr; }

 private:
  std::unique_ptr<std::array<LaneOrder, kWarpSize>> all_;
};

struct WarpOrder {
  LaneMask live = 0;
  std::uint32_t tick = 1;    // moves on when a lane gives away or takes what it knows
  std::uint32_t synced = 0;  // all its lanes know each other's accesses of ticks before this
  std::uint32_t weak = 0;
  Shared known;
  std::unique_ptr<std::array<std::array<std::uint32_t, kWarpSize>, kWarpSize>>
      pairs;  // [who][of whom]: ticks before this
  LaneOrders lanes;
  bool lanes_differ = false;                      // some lane has something of its own
  bool observes = false;                          // some lane has read, relaxed, what was released
  std::uint64_t open_copy = 0;                    // group of the copies that are issued now
  std::uint32_t proxy_tick = 0, proxy_epoch = 0;  // of the last fence.proxy
  bool proxy_fenced = false;
  struct Meeting {  // the last bar.arrive; the last bar.warp.sync of a part of the warp
    std::uint32_t site = 0, tick = 0;
    LaneMask members = 0;
  };
  Meeting arrived, partly;
};

// What looks as if it ordered two accesses, and does not.
struct Hint {
  enum class Kind : std::uint8_t { none, arrival, sync_of_others } kind = Kind::none;
  std::uint32_t site = 0;
  LaneMask members = 0;  // of the warp sync
};

struct MBarrierOrder {
  bool phase = false;
  Knowledge arriving;
  Shared passed;
};

struct BlockOrder {
  std::uint64_t number = 0;  // linear
  std::uint32_t epoch = 0;
  bool fine = false;  // something other than barriers of the block has ordered its warps
  Shared known;
  Shared observed;  // by relaxed reads before the last barrier: known to whoever then executes a fence.sc
  Shared seen;      // as LaneOrder::seen, before the last barrier
  std::vector<WarpOrder> warps;
  std::unordered_map<std::uint64_t, LaneMask> copies;  // lanes whose part of this copy all of the block know to be over
  struct Arrival {
    std::uint32_t warp = 0;
    LaneMask mask = 0;
    bool waits = true;
    std::vector<Moment> moments;  // of those that do not wait: what they knew
  };
  struct Barrier {
    std::vector<Arrival> arrivals;  // since it was passed
    std::uint32_t threads = 0;      // 0: all of the block
  };
  std::map<std::uint32_t, Barrier> barriers;
  std::unordered_map<std::uint64_t, MBarrierOrder> mbarriers;
  struct Variable {  // that releases were made at
    Shared gpu, cta;
    bool narrow_fence = false;  // cta: by a fence of that scope, and an access of a wider one
    Shared seen;                // what its writers had done, with no release
    std::uint64_t gpu_block = 0, cta_block = 0;
    bool several_blocks = false;
  };
  std::unordered_map<std::uint64_t, Variable> variables;  // in shared memory
};

// Of one launch. Not thread-safe.
class LaunchOrder {
 public:
  explicit LaunchOrder(const events::Launch& launch);

  // Of a block that begins. What was allocated for one that has ended is used again.
  void begin(BlockOrder& block, std::uint64_t number) const;

  enum class Order : std::uint8_t { none, weakly, ordered };
  // Is `before`, of lane `lane`, ordered before what the lane `by` of the warp does now?
  Order ordered(const Stamp& before, unsigned lane, const BlockOrder& block, const WarpOrder& warp, unsigned by) const;
  Hint hint(const Stamp& before, unsigned lane, const WarpOrder& warp) const;
  // Has a fence.proxy made what was written then seen by the asynchronous proxy?
  bool proxy_fenced(const Stamp& before, const BlockOrder& block, const WarpOrder& by) const;
  // Does a write of `by` come after the read `before` because it follows from a flag that was written after the read?
  // No value can be wrong then (PTX ISA, "No-Thin-Air"), though nothing releases or acquires.
  bool follows(const Stamp& before, unsigned lane, const BlockOrder& block, const LaneOrder& by) const;
  bool beyond_scope(const Stamp& before, unsigned lane, const LaneOrder& by) const;

  void barrier(BlockOrder& block, const events::Barrier& e);
  void barrier_passed(BlockOrder& block, std::uint32_t id);
  // Of a barrier that is passed now: do all threads of the block wait at it?
  bool is_of_all(const BlockOrder& block, std::uint32_t id) const;
  void whole_barrier(BlockOrder& block) { all_know_all(block); }  // of all threads, each of which waits
  void warp_sync(BlockOrder& block, const events::WarpSync& e);
  void exit(BlockOrder& block, const events::Exit& e);
  void cluster_barrier(BlockOrder& block, const events::ClusterBarrier& e);
  void fence(BlockOrder& block, const events::Fence& e);
  void mbarrier(BlockOrder& block, const events::MBarrier& e);
  void async_group(BlockOrder& block, const events::AsyncGroup& e);
  // A strong access of one lane to a variable: releases, acquires. shared: in this block's memory.
  void strong_access(BlockOrder& block, std::uint32_t warp, unsigned lane, bool shared, std::uint64_t address,
                     const events::Access& a);
  // A weak write to a variable that something was released at.
  void weak_write(BlockOrder& block, bool shared, std::uint64_t address);
  bool has_variables(const BlockOrder& block, bool shared) const {
    return !(shared ? block.variables : variables_).empty();
  }
  // The group that asynchronous copies of these lanes belong to.
  std::uint64_t copy_issued(WarpOrder& warp, LaneMask mask);
  std::uint64_t bulk_copy_issued(WarpOrder& warp, LaneMask mask);
  // Does the kernel hold anything by which blocks could be ordered?
  bool orders_blocks() const { return orders_blocks_; }

 private:
  using Variables = std::unordered_map<std::uint64_t, BlockOrder::Variable>;
  static Moment moment(const BlockOrder& block, const WarpOrder& warp, unsigned lane);
  static Shared knowledge(const BlockOrder& block, std::uint32_t warp, unsigned lane, const Moment& moment);
  static Shared knowledge(const BlockOrder& block, std::uint32_t warp, LaneMask mask);
  static void learn(BlockOrder& block, WarpOrder& warp, LaneMask mask, const Shared& what);
  static void all_know_all(BlockOrder& block);
  static void some_know(BlockOrder& block, const std::vector<BlockOrder::Arrival>& arrivals);
  void release(BlockOrder& block, BlockOrder::Variable& v, const Shared& what, events::MemoryScope scope) const;
  LaneMask all_lanes(std::size_t warp) const;  // that the block began with
  void acquire(BlockOrder& block, WarpOrder& warp, unsigned lane, const BlockOrder::Variable& v,
               const events::Access& a) const;

  events::Launch launch_;
  bool orders_blocks_ = false;
  mutable std::vector<LaneMask> here_;  // at a barrier, by warp
  std::uint64_t copies_ = 0;
  Variables variables_;                                                 // in global memory
  std::map<std::pair<std::uint64_t, std::uint32_t>, Shared> clusters_;  // by cluster and generation
};

}  // namespace warpgrind::checkers
