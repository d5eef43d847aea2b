// Checker of accesses to the shared memory of another block of the cluster that may have ended before. The other block
// must wait for the access in one of two ways. Either it waits at a barrier of the cluster, at which the accessing
// block arrives after the access. Or it waits for a flag or an mbarrier in its memory that is set after the access.
#include "checkers/cluster_exits.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>

#include "checkers/checker.h"
#include "checkers/first_seen.h"
#include "checkers/repairs.h"

namespace warpgrind::checkers {

namespace {

// State of one launch. Blocks are linear numbers.
struct LaunchState {
  // arrived: by block and warp, the newest phase of the cluster's barrier it arrived at. waited: by block, the newest
  // phase it waited for.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> arrived;
  std::map<std::uint64_t, std::uint32_t> waited;
  struct Seen {
    std::uint32_t arrived = 0;  // newest phase that the accessing warp had arrived at
    std::uint64_t count = 0;
    OrderKey order_key;
    results::FindingAccess access;
  };
  // By pair of blocks (from, to) and site: the last access that only a barrier can still order.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<std::uint32_t, Seen>> remote;
};

class ClusterExits final : public Checker {
 public:
  events::Wants wants() const override {
    events::Wants w;
    w.accesses = w.only_written = w.cluster_barriers = w.mbarriers = w.invalid_accesses = true;
    return w;
  }
  events::Wants wants_of(const events::Launch& launch) override {
    return launch.cluster.count() > 1 ? wants() : events::Wants{};
  }
  void on_launch_begin(const events::Launch& launch) override {
    const std::lock_guard lock(mutex_);
    if (launch.cluster.count() > 1) launches_[launch.id];
  }
  void on_access(const events::Access& a, unsigned) override {
    if (a.space != StateSpace::shared) return;
    for (LaneMask m = a.mask; m != 0; m &= m - 1)
      if (ranks_apart(a.addresses[static_cast<unsigned>(std::countr_zero(m))]) != 0) return look(a);
  }
  bool on_affine_access(const events::AffineAccess& a, unsigned) override { return a.space != StateSpace::shared; }
  // The other block has ended already.
  void on_invalid_access(const events::InvalidAccess& e, unsigned) override {
    if (!is_of_ended_block(e)) return;
    const std::lock_guard lock(mutex_);
    const auto it = launches_.find(e.launch->id);
    if (it == launches_.end()) return;
    const auto lane = static_cast<unsigned>(std::countr_zero(e.mask));
    note(it->second, e, {e.type, ranks_apart(e.addresses[lane]), e.bytes_of(lane), lane, ~0u});
  }
  void on_cluster_barrier(const events::ClusterBarrier& e, unsigned) override {
    const std::lock_guard lock(mutex_);
    const auto it = launches_.find(e.launch->id);
    if (it == launches_.end()) return;
    const std::uint64_t block = linear_block(*e.launch, e.block);
    if (e.waits) {
      std::uint32_t& waited = it->second.waited[block];
      waited = std::max(waited, e.generation);
    } else {
      std::uint32_t& arrived = it->second.arrived[{block, e.warp}];
      arrived = std::max(arrived, e.generation);
    }
  }
  void on_mbarrier(const events::MBarrier& e, unsigned) override {
    for (LaneMask m = e.mask; m != 0; m &= m - 1) {
      const std::int64_t ranks = ranks_apart(e.offsets[std::countr_zero(m)]);
      if (ranks != 0) drop_signalled_accesses(*e.launch, e.block, ranks);
    }
  }
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts&) override;
  void report(std::vector<results::Finding>& findings) override { found_.report(findings); }

 private:
  struct Remote {
    AccessType type = AccessType::load;
    std::int64_t ranks = 0;
    std::uint32_t bytes = 0;
    unsigned lane = 0;
    std::uint32_t arrived = 0;  // ~0: the other block has ended already, so no barrier helps
  };
  void look(const events::Access& a);
  void note(LaunchState& state, const events::WarpEvent& e, const Remote& remote);
  // The other block may wait for a signal that this block writes to its memory now. This block's earlier accesses are
  // then complete.
  void drop_signalled_accesses(const events::Launch& launch, const Dim3& block, std::int64_t ranks) {
    const std::lock_guard lock(mutex_);
    const auto it = launches_.find(launch.id);
    if (it != launches_.end())
      it->second.remote.erase({linear_block(launch, block), block_of_cluster(launch, block, ranks)});
  }

  std::mutex mutex_;
  std::map<std::uint64_t, LaunchState> launches_;
  FirstSeen found_{*this};
};

void ClusterExits::look(const events::Access& a) {
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const std::int64_t ranks = ranks_apart(a.addresses[lane]);
    if (ranks == 0) continue;
    // Strong accesses may be flags, and copies signal an mbarrier there.
    if (a.order != events::MemoryOrder::weak || a.path != events::AccessPath::instruction) {
      drop_signalled_accesses(*a.launch, a.block, ranks);
      continue;
    }
    const std::lock_guard lock(mutex_);
    const auto it = launches_.find(a.launch->id);
    if (it == launches_.end()) return;
    note(it->second, {a.launch, a.site, a.block, a.warp, a.mask}, {a.type, ranks, a.bytes_of(lane), lane, 0});
  }
}

void ClusterExits::note(LaunchState& state, const events::WarpEvent& e, const Remote& r) {
  const std::uint64_t block = linear_block(*e.launch, e.block);
  const OrderKey order_key{e.launch->work, e.launch->id, block, e.warp, r.lane};
  LaunchState::Seen& seen = state.remote[{block, block_of_cluster(*e.launch, e.block, r.ranks)}][e.site];
  const std::uint32_t arrived = std::max(r.arrived, state.arrived[{block, e.warp}]);
  ++seen.count;
  const bool later = arrived > seen.arrived;
  if (!later && seen.count > 1 && !(order_key < seen.order_key)) return;
  seen.arrived = arrived;
  seen.order_key = order_key;
  seen.access = access_at(*e.launch, e.site, e.block, e.warp, r.lane, verb_of(r.type));
  seen.access.bytes = r.bytes;
}

void ClusterExits::on_launch_end(const events::Launch& launch, const events::LaunchCounts&) {
  const std::lock_guard lock(mutex_);
  const auto it = launches_.find(launch.id);
  if (it == launches_.end()) return;
  const LaunchState& state = it->second;
  for (const auto& [blocks, sites] : state.remote) {
    const auto waited = state.waited.find(blocks.second);
    for (const auto& [site, seen] : sites) {
      // The barrier that the accessing block arrives at after the access is the next phase.
      if (waited != state.waited.end() && waited->second > seen.arrived) continue;
      const std::string key = fmt::format("{}|{}", launch.facts->name, site);
      found_.add(key, seen.order_key, [&] {
        const Dim3 other = block_of(launch, blocks.second);
        results::Finding f;
        f.kind = "cluster-exit";
        f.accesses = {seen.access};
        take_place(f, seen.access);
        f.message = fmt::format(
            "access to shared memory of block ({}, {}, {}) of the cluster, which may have exited before: nothing makes "
            "it wait",
            other.x, other.y, other.z);
        f.missing = fmt::format(
            "cluster.sync() after {}: no block may exit while another block of its cluster accesses its shared memory",
            seen.access.line != 0 ? fmt::format("line {}", seen.access.line)
                                  : fmt::format("PTX line {}", seen.access.ptx_line));
        f.advice =
            "call cluster.sync() in all blocks of the cluster, after the last access to another block's shared "
            "memory; " +
            in_cpp(Repair::cluster_sync);
        return f;
      });
    }
  }
  launches_.erase(it);
}

}  // namespace

std::unique_ptr<Checker> make_cluster_exits(const Known&) {
  return std::make_unique<ClusterExits>();
}

}  // namespace warpgrind::checkers
