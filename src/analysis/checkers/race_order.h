// Happens-before order of the threads of a launch. Sources of order: barriers of all kinds, warp syncs with masks,
// fences, release and acquire patterns, mbarriers, asynchronous copies, clusters. Rules: PTX ISA, "Memory Consistency
// Model", and docs/checks.md.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "checkers/race_clocks.h"
#include "checkers/site_roles.h"
#include "events/events.h"

namespace warpgrind::checkers {

// Time and author of an access, for all lanes of a warp instruction.
struct Stamp {
  std::uint64_t block = 0;  // linear
  // Group of the asynchronous copy, or kProduct (with kTensor for tcgen05) and the warp's group of products, 1 for the
  // first. 0: an access of the thread itself.
  std::uint64_t copy = 0;
  std::uint32_t epoch = 0;  // barriers of the whole block passed so far
  std::uint32_t tick = 0;   // WarpOrder::tick
  std::uint32_t weak = 0;   // shuffles and votes of its whole warp so far
  std::uint8_t warp = 0;
  // 0: each lane moves its own part of the access. Otherwise a kind of matrix fragment: PTX does not specify which lane
  // holds an element, so that the lane is only the virtual GPU's choice (LaunchRaces::owner_of).
  std::uint8_t owner = 0;

  static constexpr std::uint64_t kProduct = std::uint64_t{1} << 63, kTensor = std::uint64_t{1} << 62;
  bool is_product() const { return (copy & kProduct) != 0; }
  bool is_tensor() const { return is_product() && (copy & kTensor) != 0; }
  Knowledge::Unit unit() const { return is_tensor() ? Knowledge::Unit::tcgen05 : Knowledge::Unit::wgmma; }
  std::uint32_t product_group() const { return static_cast<std::uint32_t>(copy & ~(kProduct | kTensor)); }
};

// Knowledge of a lane at one moment. It becomes a Knowledge object only when another thread takes it.
struct Moment {
  std::uint32_t epoch = 0, synced = 0, tick = 0;
  Shared lane, warp, block;
  bool set = false;
};

struct LaneOrder {
  Shared known;                     // in addition to that of its warp and block
  Shared beyond_scope;              // would be known if scopes were wide enough
  Shared seen;                      // from relaxed reads of flags: orders only later writes after earlier reads
  Shared pending_cta, pending_gpu;  // from relaxed reads: known after the next fence
  Moment fence;                     // at the last fence
  Moment init_fence;                // at the last fence.mbarrier_init
  events::MemoryScope fence_scope = events::MemoryScope::none;
  std::vector<std::vector<std::uint64_t>> groups, bulk_groups;  // committed asynchronous copies, oldest first
  std::vector<std::uint64_t> open, bulk_open;                   // not committed yet
  std::size_t bulk_read = 0;  // of bulk_groups, the first that have read their sources (wait_group.read)
};

// The LaneOrder of each lane, allocated at first use: in most kernels no lane has knowledge of its own.
class LaneOrders {
 public:
  LaneOrder& operator[](unsigned lane) {
    if (!all_) all_ = std::make_unique<std::array<LaneOrder, kWarpSize>>();
    return (*all_)[lane];
  }
  const LaneOrder& operator[](unsigned lane) const {
    static const LaneOrder& nothing = *new LaneOrder;  // never destroyed: kernels may run until the process ends
    return all_ ? (*all_)[lane] : nothing;
  }
  LaneOrder* begin() { return all_ ? all_->data() : nullptr; }
  LaneOrder* end() { return all_ ? all_->data() + kWarpSize : nullptr; }

 private:
  std::unique_ptr<std::array<LaneOrder, kWarpSize>> all_;
};

// The fence.proxy.async of a warp. For each lane the newest; of the warp's newest ones also what was known before them.
struct ProxyFences {
  static constexpr std::size_t kSpaces = 2;  // global, shared
  static constexpr std::size_t kKept = 4;
  struct Kept {
    LaneMask mask = 0;
    std::uint32_t epoch = 0, tick = 0;
    std::array<bool, kSpaces> of{};
    Shared knew;
  };
  struct At {
    std::uint32_t epoch = 0, tick = 0;
    bool set = false;
  };
  std::array<std::array<At, kWarpSize>, kSpaces> newest{};
  std::vector<Kept> kept;  // oldest first
};

struct WarpOrder {
  LaneMask live = 0;
  std::uint32_t tick = 1;    // advances when a lane gives or takes knowledge
  std::uint32_t synced = 0;  // all lanes know each other's accesses at ticks before this
  std::uint32_t weak = 0;
  Shared known;
  std::unique_ptr<std::array<std::array<std::uint32_t, kWarpSize>, kWarpSize>>
      pairs;  // [l][of]: lane l knows the accesses of lane `of` at ticks before this
  LaneOrders lanes;
  bool lanes_differ = false;    // some lane has knowledge of its own
  bool observes = false;        // some lane has read a released variable with a relaxed read
  std::uint64_t open_copy = 0;  // group of the copies (cp.async) being issued
  struct BulkCopy {
    std::uint64_t group = 0;  // 0: none
    std::uint32_t site = 0;
    bool completed = false;  // at an mbarrier; it may complete at those of other blocks too
    // The copies that the lanes of one instruction have made so far, and where each lane's begins.
    std::uint64_t first = 0;  // group
    std::uint32_t tick = 0;
    LaneMask lanes = 0, wrote = 0;
    std::array<std::uint64_t, kWarpSize> from{}, to{};
  } bulk_copy;  // the last one
  struct AsyncStore {
    std::uint64_t group = 0;  // 0: none
    bool completed = false;
  } async_store;  // the last st.async or red.async
  struct CopySources {
    std::uint32_t site = 0;
    LaneMask lanes = 0;  // the others write zeroes
    std::array<std::uint64_t, kWarpSize> from{};
    std::array<std::uint32_t, kWarpSize> bytes{};
  };
  std::unique_ptr<CopySources> copy_sources;  // of the last cp.async
  ProxyFences proxy_fences;
  // Groups of products that the warp has committed, and those that the whole block knows to be complete. By unit.
  std::array<std::uint32_t, Knowledge::kUnits> product_groups{}, products_known{};
  std::uint32_t groups_of(Knowledge::Unit unit) const { return product_groups[static_cast<std::size_t>(unit)]; }
  struct Meeting {  // arrived: the last bar.arrive; partly: the last bar.warp.sync of some lanes only
    std::uint32_t site = 0, tick = 0;
    LaneMask members = 0;
  };
  Meeting arrived, partly, relaxed_cluster;
};

// Synchronisation near a race that seems to order the two accesses, but does not.
struct Hint {
  // relaxed_cluster: the first access's warp has arrived at a cluster barrier with .relaxed since.
  enum class Kind : std::uint8_t { none, arrival, sync_of_others, relaxed_cluster } kind = Kind::none;
  std::uint32_t site = 0;
  LaneMask members = 0;  // of the warp sync
};

struct MBarrierOrder {
  bool phase = false;
  Knowledge arriving;
  Shared passed;
  std::int64_t number = 0;     // of the phase: 0 is the first
  std::uint64_t expected = 0;  // bytes that expect_tx announced in this phase
  struct Copy {
    std::uint64_t copy = 0;
    std::int64_t phase = 0;  // that it completes in
  };
  std::deque<Copy> copies;  // the newest, oldest first
  struct Wait {
    std::int64_t phase = 0;  // that was over; -1: the one before the first
    std::uint32_t site = 0;
  };
  std::map<std::pair<std::uint64_t, std::uint32_t>, Wait> waits;        // the last of each block and warp
  std::map<std::pair<std::uint64_t, std::uint32_t>, LaneMask> arrived;  // threads that have arrived, by block and warp
  struct Made {
    Stamp stamp;
    unsigned lane = 0;
    std::uint32_t site = 0;
    bool set = false;
  } made;
};

// Why a wait at a copy's mbarrier did not order an access after the copy.
struct WrongWait {
  enum class Kind : std::uint8_t {
    none,
    phase_before,  // the wait was for an earlier phase than that of the copy
    early_phase    // expect_tx announced fewer bytes than were copied, so the phase was over before the copy
  } kind = Kind::none;
  std::uint32_t site = 0;  // of the wait
  std::int64_t phase = 0;  // that the wait was for; that of the copy is a later one
};

// Use of an mbarrier that nothing orders after its initialisation by another thread.
struct EarlyUse {
  MBarrierOrder::Made made;
  Stamp use;
  std::uint32_t site = 0;
  unsigned lane = 0;
};

struct BlockOrder {
  std::uint64_t number = 0;  // linear
  std::uint32_t epoch = 0;
  bool fine = false;  // its warps are ordered by more than barriers of the block
  Shared known;
  Shared observed;  // from relaxed reads before the last barrier: known to any thread after a fence.sc
  Shared seen;      // LaneOrder::seen of all lanes before the last barrier
  Shared inits;     // initialisations of mbarriers of the cluster
  std::vector<WarpOrder> warps;
  std::unordered_map<std::uint64_t, LaneMask> copies;  // by copy: lanes whose part the whole block knows to be complete
  struct Arrival {
    std::uint32_t warp = 0;
    LaneMask mask = 0;
    bool waits = true;
    std::vector<Moment> moments;  // by lane, if they do not wait
  };
  struct Barrier {
    std::vector<Arrival> arrivals;  // since it was last passed
    std::uint32_t threads = 0;      // expected; 0: all of the block
  };
  std::map<std::uint32_t, Barrier> barriers;
  struct Variable {             // a variable that threads have released at
    Shared gpu, cta;            // released at device (or wider) scope, and at block scope
    bool narrow_fence = false;  // `cta` comes from a fence of block scope and an access of wider scope
    Shared seen;                // accesses before the writes to the variable, without a release
    std::uint64_t gpu_block = 0, cta_block = 0;
    bool several_blocks = false;
  };
  std::unordered_map<std::uint64_t, Variable> variables;  // in shared memory
};

// Order of the threads of one launch. Not thread-safe.
class LaunchOrder {
 public:
  explicit LaunchOrder(const events::Launch& launch);

  // Initialises `block`, which may be that of an ended block: its allocations are reused.
  void begin(BlockOrder& block, std::uint64_t number);

  enum class Order : std::uint8_t { none, weakly, ordered };
  // Is `before`, of lane `lane`, ordered before what the lane `by` of the warp does now? owner: Stamp::owner of that.
  Order ordered(const Stamp& before, unsigned lane, const BlockOrder& block, const WarpOrder& warp, unsigned by,
                std::uint8_t owner) const;
  Hint hint(const Stamp& before, unsigned lane, const BlockOrder& block, const WarpOrder& warp) const;
  // Has a fence.proxy.async made the write `before`, which is ordered before what the lane `by` does now, visible to
  // the async proxy? writers: the block that wrote; null: it has ended, and the answer is yes.
  bool proxy_fenced(const Stamp& before, unsigned lane, const BlockOrder* writers, bool shared, const BlockOrder& block,
                    const WarpOrder& warp, unsigned by) const;
  // Has the lane, or its block, read by a relaxed operation what was released after `before`? A fence would order it.
  static bool lacks_acquire(const Stamp& before, unsigned lane, const BlockOrder& block, const LaneOrder& by);
  // Site of the wait at an mbarrier by which the warp takes memory over from `before`, whose thread has never arrived
  // there nor waited: only other threads have arrived.
  std::optional<std::uint32_t> wait_without_arrival(const Stamp& before, unsigned lane, std::uint64_t block,
                                                    std::uint32_t warp) const;
  // Looks for a wait of the warp at the mbarrier on which the copy completes.
  WrongWait wrong_wait(const Stamp& copy, std::uint64_t block, std::uint32_t warp) const;
  // Does a write of `by` come after the read `before` because `by` has seen a flag that was written after that read?
  // Then no value can be wrong (PTX ISA, "No-Thin-Air"), even without release and acquire.
  bool follows(const Stamp& before, unsigned lane, const BlockOrder& block, const LaneOrder& by) const;
  // Would `before` be ordered before the next access of `by` if scopes were wide enough?
  bool beyond_scope(const Stamp& before, unsigned lane, const LaneOrder& by) const;

  void barrier(BlockOrder& block, const events::Barrier& e);
  void barrier_passed(BlockOrder& block, std::uint32_t id);
  // Call when the barrier is passed: do all threads of the block wait at it?
  bool is_of_all(const BlockOrder& block, std::uint32_t id) const;
  void whole_barrier(BlockOrder& block) { all_know_all(block); }  // all threads of the block wait
  void warp_sync(BlockOrder& block, const events::WarpSync& e);
  void exit(BlockOrder& block, const events::Exit& e);
  void cluster_barrier(BlockOrder& block, const events::ClusterBarrier& e);
  void fence(BlockOrder& block, const events::Fence& e);
  void mbarrier(BlockOrder& block, const events::MBarrier& e);
  void async_group(BlockOrder& block, const events::AsyncGroup& e);
  // Strong access of one lane to a variable: may release or acquire. shared: the variable is in the block's memory.
  void strong_access(BlockOrder& block, std::uint32_t warp, unsigned lane, bool shared, std::uint64_t address,
                     const events::Access& a);
  // Weak write: ends what was released at the variable.
  void weak_write(BlockOrder& block, bool shared, std::uint64_t address);
  bool has_variables(const BlockOrder& block, bool shared) const {
    return !(shared ? block.variables : variables_).empty();
  }
  // Group of the products that the warp issues now, as in Stamp::copy.
  static std::uint64_t open_products(const WarpOrder& warp, Knowledge::Unit unit) {
    return Stamp::kProduct | (unit == Knowledge::Unit::tcgen05 ? Stamp::kTensor : 0) | (warp.groups_of(unit) + 1);
  }
  const std::vector<EarlyUse>& early_uses() const { return early_uses_; }
  // Returns the group of an asynchronous copy that these lanes issue.
  std::uint64_t copy_issued(WarpOrder& warp, LaneMask mask);
  // The same for one access of a copy by the async proxy. begins: it is the copy's first; continues: it belongs to the
  // warp's last copy, which may already have completed in another block. Neither: it belongs to that copy if its site
  // is the same and the copy has not completed.
  struct CopyPart {
    bool writes = false, begins = false, continues = false;
    const std::uint64_t* addresses = nullptr;  // of the lanes
  };
  std::uint64_t bulk_copy_part(WarpOrder& warp, std::uint32_t site, LaneMask mask, const CopyPart& part);
  // The same for st.async and red.async. Returns 0 for other sites.
  std::uint64_t store_issued(WarpOrder& warp, std::uint32_t site);
  bool is_async_store(std::uint32_t site) const {
    return site < roles_.size() && roles_[site] == SiteRole::async_store;
  }
  // Call for the part of a cp.async that reads, before copy_issued() for the part that writes.
  static void copy_reads(WarpOrder& warp, const events::Access& a);
  // The same question as copies_the_same(), for two lanes of one cp.async that write to the same place.
  static bool reads_the_same(const WarpOrder& warp, std::uint32_t site, unsigned first_lane, unsigned second_lane);
  // Do two lanes of one instruction copy from the same place to the same place? CUTLASS lets whole warps store a tile.
  static bool copies_the_same(const WarpOrder& warp, const Stamp& first, unsigned first_lane, unsigned second_lane);
  // Stamp::copy of what a bulk copy writes; that of what it reads is the group itself.
  static std::uint64_t written_side(std::uint64_t copy) { return copy | 1; }
  // Does the kernel have an instruction or launch attribute that can order blocks?
  bool orders_blocks() const { return orders_blocks_; }

 private:
  using Variables = std::unordered_map<std::uint64_t, BlockOrder::Variable>;
  static Moment moment(const BlockOrder& block, const WarpOrder& warp, unsigned lane);
  static Shared knowledge(const BlockOrder& block, std::uint32_t warp, unsigned lane, const Moment& moment);
  void proxy_fence(BlockOrder& block, const events::Fence& e);
  static void products(BlockOrder& block, WarpOrder& warp, const events::WarpSync& e, SiteRole role,
                       std::uint32_t pending);
  static bool knows_products(const Stamp& before, const BlockOrder& block, const WarpOrder& warp, unsigned by);
  bool completes_copy(const events::MBarrier& e) const;
  MBarrierOrder& mbarrier_of(const BlockOrder& block, const events::MBarrier& e, unsigned lane);
  void use(const MBarrierOrder& m, const BlockOrder& block, const events::MBarrier& e, unsigned lane);
  static Shared knowledge(const BlockOrder& block, std::uint32_t warp, LaneMask mask);
  static Shared learned(const BlockOrder& block, const WarpOrder& warp, unsigned lane);
  static void learn(BlockOrder& block, WarpOrder& warp, LaneMask mask, const Shared& what);
  void all_know_all(BlockOrder& block);
  bool another_block_knew(const Stamp& copy, unsigned lane, const BlockOrder& block, const WarpOrder& warp,
                          unsigned by) const;
  static void some_know(BlockOrder& block, const std::vector<BlockOrder::Arrival>& arrivals);
  static Shared released_by_fence(const BlockOrder& block, const events::MBarrier& e, unsigned lane);
  void release(BlockOrder& block, BlockOrder::Variable& v, const Shared& what, events::MemoryScope scope) const;
  LaneMask all_lanes(std::size_t warp) const;  // at the block's start
  void acquire(BlockOrder& block, WarpOrder& warp, unsigned lane, const BlockOrder::Variable& v,
               const events::Access& a) const;

  events::Launch launch_;
  std::vector<SiteRole> roles_;                                                 // by site
  std::vector<std::uint32_t> pending_;                                          // by site; of wgmma.wait_group
  std::map<std::pair<std::uint64_t, std::uint64_t>, MBarrierOrder> mbarriers_;  // by block and offset in its memory
  std::vector<EarlyUse> early_uses_;                                            // one of each pair of sites
  bool orders_blocks_ = false;
  mutable std::vector<LaneMask> here_;  // lanes at a barrier, by warp; scratch of is_of_all()
  std::uint64_t copies_ = 0;
  Variables variables_;  // in global memory
  // By cluster and generation. inits: the initialisations of mbarriers that fence.mbarrier_init has made known.
  struct Meeting {
    Shared all, inits;
  };
  std::map<std::pair<std::uint64_t, std::uint32_t>, Meeting> clusters_;
  // Of launches with clusters, by copy: BlockOrder::copies of all blocks, and after which barrier a block has known it.
  struct KnownCopy {
    std::uint64_t block = 0;
    std::uint32_t epoch = 0;
    LaneMask lanes = 0;
  };
  std::unordered_map<std::uint64_t, std::vector<KnownCopy>> known_copies_;
};

}  // namespace warpgrind::checkers
