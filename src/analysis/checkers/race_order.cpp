// Happens-before order: effects of barriers, fences, releases and acquires.
#include "checkers/race_order.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "events/blocks.h"

namespace warpgrind::checkers {

namespace {

using events::MemoryOrder;
using events::MemoryScope;

template <class F>
void each_lane(LaneMask mask, F&& f) {
  for (LaneMask m = mask; m != 0; m &= m - 1) f(static_cast<unsigned>(std::countr_zero(m)));
}

// Does the scope include threads of other blocks?
bool wide(MemoryScope s) {
  return s != MemoryScope::cta && s != MemoryScope::none;
}

// Products that the whole block knows to be complete. Other blocks have no other way to learn that.
void learn_own_products(Knowledge& to, const BlockOrder& b) {
  for (std::uint32_t w = 0; w < b.warps.size(); ++w)
    for (const Knowledge::Unit unit : {Knowledge::Unit::wgmma, Knowledge::Unit::tcgen05})
      if (const std::uint32_t groups = b.warps[w].products_known[static_cast<std::size_t>(unit)]; groups != 0)
        to.learn_products(unit, b.number, w, groups);
}

}  // namespace

LaunchOrder::LaunchOrder(const events::Launch& launch) : launch_(launch), copies_(0) {
  for (const events::Site& s : launch.facts->sites)
    if (s.kind == SiteKind::fence || s.order != MemoryOrder::weak) orders_blocks_ |= s.order != MemoryOrder::relaxed;
  orders_blocks_ |= launch.cooperative || launch.cluster.count() > 1;
  for (const events::Site& s : launch.facts->sites) {
    roles_.push_back(role_of(s));
    pending_.push_back(pending_groups(s));
  }
}

void LaunchOrder::begin(BlockOrder& b, std::uint64_t number) {
  std::vector<WarpOrder> warps = std::move(b.warps);
  std::map<std::uint32_t, BlockOrder::Barrier> barriers = std::move(b.barriers);
  b = BlockOrder();
  b.number = number;
  mbarriers_.erase(mbarriers_.lower_bound({number, 0}), mbarriers_.lower_bound({number + 1, 0}));
  b.warps = std::move(warps);
  b.barriers = std::move(barriers);
  const auto threads = static_cast<std::uint32_t>(launch_.block.count());
  b.warps.resize((threads + kWarpSize - 1) / kWarpSize);
  for (std::uint32_t w = 0; w < b.warps.size(); ++w) {
    b.warps[w] = WarpOrder();
    b.warps[w].live = all_lanes(w);
  }
  for (auto& [id, barrier] : b.barriers) {
    barrier.arrivals.clear();
    barrier.threads = 0;
  }
}

LaneMask LaunchOrder::all_lanes(std::size_t warp) const {
  WG_ASSERT(warp * kWarpSize < launch_.block.count());
  const std::uint64_t left = launch_.block.count() - warp * kWarpSize;
  return left >= kWarpSize ? ~LaneMask{0} : (LaneMask{1} << left) - 1;
}

LaunchOrder::Order LaunchOrder::ordered(const Stamp& q, unsigned lane, const BlockOrder& b, const WarpOrder& w,
                                        unsigned by, std::uint8_t owner) const {
  WG_DEBUG_ASSERT(by < kWarpSize && lane < kWarpSize && (q.block != b.number || q.warp < b.warps.size()));
  const LaneOrder& me = w.lanes[by];
  if (q.is_product()) return knows_products(q, b, w, by) ? Order::ordered : Order::none;
  if (q.copy != 0) {
    const auto over = b.copies.find(q.copy);
    if (over != b.copies.end() && (over->second >> lane & 1) != 0) return Order::ordered;
    for (const Shared* known : {&me.known, &w.known, &b.known})
      if (*known && (*known)->knows_copy(q.copy, lane)) return Order::ordered;
    return another_block_knew(q, lane, b, w, by) ? Order::ordered : Order::none;
  }
  bool weakly = false;
  if (q.block == b.number) {
    if (q.epoch < b.epoch) return Order::ordered;
    if (&b.warps[q.warp] == &w) {
      // Lanes of different owners do not compare: the access may be that of any lane.
      const bool known = q.owner == owner;
      if ((known && lane == by) || q.tick < w.synced || (known && w.pairs && q.tick < (*w.pairs)[by][lane]))
        return Order::ordered;
      weakly = q.weak < w.weak;
    }
  }
  for (const Shared* known : {&me.known, &w.known, &b.known})
    if (*known && (*known)->knows(q.block, q.warp, lane, q.epoch, q.tick)) return Order::ordered;
  return weakly ? Order::weakly : Order::none;
}

// Does the lane know what another block did after a barrier at which that block knew the copy to be complete?
bool LaunchOrder::another_block_knew(const Stamp& q, unsigned lane, const BlockOrder& b, const WarpOrder& w,
                                     unsigned by) const {
  const auto copies = known_copies_.find(q.copy);
  if (copies == known_copies_.end()) return false;
  for (const KnownCopy& c : copies->second)
    for (const Shared* known : {&w.lanes[by].known, &w.known, &b.known})
      if ((c.lanes >> lane & 1) != 0 && *known && (*known)->knows(c.block, 0, 0, c.epoch, ~0u)) return true;
  return false;
}

Hint LaunchOrder::hint(const Stamp& q, unsigned lane, const BlockOrder& b, const WarpOrder& w) const {
  if (w.partly.tick > q.tick && (w.partly.members >> lane & 1) == 0)
    return {Hint::Kind::sync_of_others, w.partly.site, w.partly.members};
  if (const WarpOrder::Meeting& relaxed = b.warps[q.warp].relaxed_cluster; relaxed.tick > q.tick)
    return {Hint::Kind::relaxed_cluster, relaxed.site, 0};
  if (w.arrived.tick != 0) return {Hint::Kind::arrival, w.arrived.site, 0};
  return {};
}

bool LaunchOrder::follows(const Stamp& q, unsigned lane, const BlockOrder& b, const LaneOrder& by) const {
  for (const Shared* seen : {&by.seen, &b.seen})
    if (*seen && (*seen)->knows(q.block, q.warp, lane, q.epoch, q.tick)) return true;
  return false;
}

bool LaunchOrder::lacks_acquire(const Stamp& q, unsigned lane, const BlockOrder& b, const LaneOrder& by) {
  for (const Shared* seen : {&by.pending_cta, &by.pending_gpu, &b.observed})
    if (*seen && (*seen)->knows(q.block, q.warp, lane, q.epoch, q.tick)) return true;
  return false;
}

bool LaunchOrder::beyond_scope(const Stamp& q, unsigned lane, const LaneOrder& by) const {
  return by.beyond_scope && by.beyond_scope->knows(q.block, q.warp, lane, q.epoch, q.tick);
}

// ---- Giving and taking knowledge

Moment LaunchOrder::moment(const BlockOrder& b, const WarpOrder& w, unsigned lane) {
  return {b.epoch, w.synced, w.tick, w.lanes[lane].known, w.known, b.known, true};
}

Shared LaunchOrder::knowledge(const BlockOrder& b, std::uint32_t warp, unsigned lane, const Moment& m) {
  auto all = std::make_shared<Knowledge>();
  for (const Shared* known : {&m.block, &m.warp, &m.lane})
    if (*known) all->join(**known);
  all->learn_block(b.number, m.epoch);
  all->learn_warp(b.number, warp, m.synced);
  if (const WarpOrder& w = b.warps[warp]; w.pairs)
    for (unsigned l = 0; l < kWarpSize; ++l) all->learn_lane(b.number, warp, l, std::min((*w.pairs)[lane][l], m.tick));
  all->learn_lane(b.number, warp, lane, m.tick + 1);
  return all;
}

// Knowledge of several lanes at this moment; excludes their later accesses.
Shared LaunchOrder::knowledge(const BlockOrder& b, std::uint32_t warp, LaneMask mask) {
  const WarpOrder& w = b.warps[warp];
  auto all = std::make_shared<Knowledge>();
  for (const Shared* known : {&b.known, &w.known})
    if (*known) all->join(**known);
  all->learn_block(b.number, b.epoch);
  all->learn_warp(b.number, warp, w.synced);
  if ((mask & w.live) == w.live)
    all->learn_warp(b.number, warp, w.tick + 1);
  else
    each_lane(mask, [&](unsigned l) {
      all->learn_lane(b.number, warp, l, w.tick + 1);
      if (w.pairs)
        for (unsigned of = 0; of < kWarpSize; ++of) all->learn_lane(b.number, warp, of, (*w.pairs)[l][of]);
    });
  if (w.lanes_differ)
    each_lane(mask, [&](unsigned l) {
      if (w.lanes[l].known) all->join(*w.lanes[l].known);
    });
  learn_own_products(*all, b);
  return all;
}

// Knowledge of a lane that it has from others: by barriers of the block, mbarriers and acquires.
Shared LaunchOrder::learned(const BlockOrder& b, const WarpOrder& w, unsigned lane) {
  auto all = std::make_shared<Knowledge>();
  for (const Shared* known : {&b.known, &w.known, &w.lanes[lane].known})
    if (*known) all->join(**known);
  all->learn_block(b.number, b.epoch);
  learn_own_products(*all, b);
  return all;
}

void LaunchOrder::learn(BlockOrder& b, WarpOrder& w, LaneMask mask, const Shared& what) {
  if (!what) return;
  b.fine = true;
  if ((mask & w.live) == w.live) {
    w.known = joined(w.known, what);
    return;
  }
  w.lanes_differ = true;
  each_lane(mask, [&](unsigned l) { w.lanes[l].known = joined(w.lanes[l].known, what); });
}

// ---- Barriers

// Barrier of the whole block: every thread learns what any thread knows. The new epoch stands for the block's own
// accesses.
void LaunchOrder::all_know_all(BlockOrder& b) {
  Shared all = b.known;
  for (WarpOrder& w : b.warps) {
    if (w.observes)
      for (const LaneOrder& l : w.lanes) {
        b.observed = joined(b.observed, l.pending_gpu);
        b.seen = joined(b.seen, l.seen);
      }
    w.observes = false;
    all = joined(all, w.known);
    w.known.reset();
    if (!w.lanes_differ) continue;
    for (LaneOrder& l : w.lanes) {
      all = joined(all, l.known);
      l.known.reset();
    }
    w.lanes_differ = false;
    w.pairs.reset();
  }
  if (all) {
    auto rest = std::make_shared<Knowledge>(*all);
    for (std::uint32_t w = 0; w < b.warps.size(); ++w)
      for (const Knowledge::Unit unit : {Knowledge::Unit::wgmma, Knowledge::Unit::tcgen05}) {
        std::uint32_t& known = b.warps[w].products_known[static_cast<std::size_t>(unit)];
        known = std::max(known, all->products(unit, b.number, w));
      }
    rest->forget_block(b.number);
    rest->take_copies([&](std::uint64_t copy, std::uint32_t lane) {
      b.copies[copy] |= LaneMask{1} << lane;
      if (launch_.cluster.count() > 1) known_copies_[copy].push_back({b.number, b.epoch, LaneMask{1} << lane});
      return true;
    });
    b.known = rest->empty() ? nullptr : Shared(rest);
  }
  ++b.epoch;
}

void LaunchOrder::barrier(BlockOrder& b, const events::Barrier& e) {
  WG_ASSERT(e.warp < b.warps.size());
  WarpOrder& w = b.warps[e.warp];
  BlockOrder::Arrival a{e.warp, e.mask, e.waits, {}};
  if (!e.waits) {
    a.moments.resize(kWarpSize);
    each_lane(e.mask, [&](unsigned l) { a.moments[l] = moment(b, w, l); });
    ++w.tick;
    w.arrived = {e.site, w.tick, 0};
  }
  BlockOrder::Barrier& at = b.barriers[e.barrier];
  at.threads = e.threads;
  at.arrivals.push_back(std::move(a));
}

bool LaunchOrder::is_of_all(const BlockOrder& b, std::uint32_t id) const {
  const auto at = b.barriers.find(id);
  here_.assign(b.warps.size(), 0);
  if (at != b.barriers.end())
    for (const BlockOrder::Arrival& a : at->second.arrivals) {
      if (!a.waits) return false;
      WG_ASSERT(a.warp < here_.size());
      here_[a.warp] |= a.mask;
    }
  // With a thread count, all lanes that the block began with must be here: exited threads are not subtracted from the
  // count. Without one, only the live lanes must.
  const bool counted = at != b.barriers.end() && at->second.threads != 0;
  for (std::size_t w = 0; w < here_.size(); ++w) {
    const LaneMask needed = counted ? all_lanes(w) : b.warps[w].live;
    if ((here_[w] & needed) != needed) return false;
  }
  return true;
}

void LaunchOrder::barrier_passed(BlockOrder& b, std::uint32_t id) {
  const bool all = is_of_all(b, id);
  std::vector<BlockOrder::Arrival>& arrivals = b.barriers[id].arrivals;
  if (all)
    all_know_all(b);
  else
    some_know(b, arrivals);
  arrivals.clear();
}

// Barrier of only some threads of the block, or at which some do not wait.
void LaunchOrder::some_know(BlockOrder& b, const std::vector<BlockOrder::Arrival>& arrivals) {
  std::vector<LaneMask> here(b.warps.size());
  for (const BlockOrder::Arrival& a : arrivals) here[a.warp] |= a.mask;
  Shared given;
  for (const BlockOrder::Arrival& a : arrivals) {
    if (a.waits) {
      given = joined(given, knowledge(b, a.warp, here[a.warp] & a.mask));
      continue;
    }
    each_lane(a.mask, [&](unsigned l) { given = joined(given, knowledge(b, a.warp, l, a.moments[l])); });
  }
  for (const BlockOrder::Arrival& a : arrivals)
    if (a.waits) learn(b, b.warps[a.warp], a.mask, given);
  for (const BlockOrder::Arrival& a : arrivals)
    if (a.waits) ++b.warps[a.warp].tick;
}

void LaunchOrder::warp_sync(BlockOrder& b, const events::WarpSync& e) {
  WarpOrder& w = b.warps[e.warp];
  if (e.operation == SiteKind::matrix && e.site < roles_.size()) products(b, w, e, roles_[e.site], pending_[e.site]);
  if (e.operation != SiteKind::warp_barrier) {
    if ((e.together & w.live) == w.live) ++w.weak;
    return;
  }
  ++w.tick;
  Shared all;
  if (w.lanes_differ) each_lane(e.together, [&](unsigned l) { all = joined(all, w.lanes[l].known); });
  if ((e.together & w.live) == w.live) {
    w.synced = w.tick;
    w.pairs.reset();
    if (w.lanes_differ) {
      w.known = joined(w.known, all);
      for (LaneOrder& l : w.lanes) l.known.reset();
      w.lanes_differ = false;
    }
    return;
  }
  w.partly = {e.site, w.tick, e.together};
  if (!w.pairs) {
    w.pairs = std::make_unique<std::array<std::array<std::uint32_t, kWarpSize>, kWarpSize>>();
    for (auto& row : *w.pairs) row.fill(0);
    w.lanes_differ = true;
  }
  // Each of these lanes learns what any of them knows.
  std::array<std::uint32_t, kWarpSize> most{};
  each_lane(e.together, [&](unsigned l) {
    for (unsigned of = 0; of < kWarpSize; ++of) most[of] = std::max(most[of], (*w.pairs)[l][of]);
  });
  each_lane(e.together, [&](unsigned l) { most[l] = w.tick; });
  each_lane(e.together, [&](unsigned l) {
    (*w.pairs)[l] = most;
    if (all) w.lanes[l].known = all;
  });
}

void LaunchOrder::exit(BlockOrder& b, const events::Exit& e) {
  WG_ASSERT(e.warp < b.warps.size());
  b.warps[e.warp].live &= ~e.mask;
}

void LaunchOrder::cluster_barrier(BlockOrder& b, const events::ClusterBarrier& e) {
  WarpOrder& w = b.warps[e.warp];
  const std::uint64_t size = launch_.cluster.count();
  const std::uint64_t cx = launch_.cluster.x, cy = launch_.cluster.y, cz = launch_.cluster.z;
  const std::uint64_t gx = launch_.grid.x / std::max<std::uint64_t>(1, cx);
  const std::uint64_t gy = launch_.grid.y / std::max<std::uint64_t>(1, cy);
  const std::uint64_t cluster = size <= 1 ? b.number : (e.block.z / cz * gy + e.block.y / cy) * gx + e.block.x / cx;
  Meeting& met = clusters_[{cluster, e.generation}];
  if (e.waits) {
    if (e.order != MemoryOrder::relaxed) learn(b, w, e.mask, met.all);
    b.inits = joined(b.inits, met.inits);
    return;
  }
  each_lane(e.mask, [&](unsigned l) {
    const Moment& inits = w.lanes[l].init_fence;
    if (inits.set) met.inits = joined(met.inits, knowledge(b, e.warp, l, inits));
  });
  if (e.order != MemoryOrder::relaxed) {
    met.all = joined(met.all, knowledge(b, e.warp, e.mask));
  } else {  // what a fence before it has released
    w.relaxed_cluster = {e.site, ++w.tick, 0};
    each_lane(e.mask, [&](unsigned l) {
      const LaneOrder& lane = w.lanes[l];
      if (lane.fence.set && wide(lane.fence_scope)) met.all = joined(met.all, knowledge(b, e.warp, l, lane.fence));
    });
  }
  ++w.tick;
}

// ---- Fences, release and acquire

void LaunchOrder::fence(BlockOrder& b, const events::Fence& e) {
  WarpOrder& w = b.warps[e.warp];
  const SiteRole role = e.site < roles_.size() ? roles_[e.site] : SiteRole::none;
  if (e.proxy) return proxy_fence(b, e);
  if (role == SiteRole::fence_init) {
    each_lane(e.mask, [&](unsigned l) { w.lanes[l].init_fence = moment(b, w, l); });
    ++w.tick;
    return;
  }
  each_lane(e.mask, [&](unsigned l) {
    LaneOrder& lane = w.lanes[l];
    Shared seen = lane.pending_cta;
    // All fence.sc have one total order, also with the fence of the release. So this one makes known what any thread of
    // the block had read before the last barrier.
    if (wide(e.scope) && e.order == MemoryOrder::sequential) seen = joined(seen, b.observed);
    if (wide(e.scope))
      seen = joined(seen, lane.pending_gpu);
    else
      lane.beyond_scope = joined(lane.beyond_scope, lane.pending_gpu);
    if (seen) learn(b, w, LaneMask{1} << l, seen);
    if (wide(e.scope)) lane.pending_gpu.reset();
    lane.pending_cta.reset();
  });
  each_lane(e.mask, [&](unsigned l) {
    w.lanes[l].fence = moment(b, w, l);
    w.lanes[l].fence_scope = e.scope;
  });
  ++w.tick;
}

// A relaxed operation at an mbarrier releases what a fence before it has released.
Shared LaunchOrder::released_by_fence(const BlockOrder& b, const events::MBarrier& e, unsigned l) {
  const LaneOrder& lane = b.warps[e.warp].lanes[l];
  const bool reaches = events::ranks_apart(e.offsets[l]) == 0 || wide(lane.fence_scope);
  return lane.fence.set && reaches ? knowledge(b, e.warp, l, lane.fence) : nullptr;
}

void LaunchOrder::release(BlockOrder& b, BlockOrder::Variable& v, const Shared& what, MemoryScope scope) const {
  if (!wide(scope)) {
    v.cta = v.cta_block == b.number ? joined(v.cta, what) : what;
    v.cta_block = b.number;
    return;
  }
  v.several_blocks |= v.gpu && v.gpu_block != b.number;
  v.gpu = joined(v.gpu, what);
  v.gpu_block = b.number;
}

// Takes what was released at the variable. An acquire learns it at once, a relaxed read only after a fence.
void LaunchOrder::acquire(BlockOrder& b, WarpOrder& w, unsigned lane, const BlockOrder::Variable& v,
                          const events::Access& a) const {
  LaneOrder& me = w.lanes[lane];
  const LaneMask bit = LaneMask{1} << lane;
  const bool own = !v.several_blocks && v.gpu_block == b.number;
  const bool now = acquires(a.order);
  if (v.cta && v.cta_block == b.number) {
    if (now)
      learn(b, w, bit, v.cta);
    else
      me.pending_cta = joined(me.pending_cta, v.cta);
  } else if (v.cta && v.narrow_fence && wide(a.scope)) {
    me.beyond_scope = joined(me.beyond_scope, v.cta);
  }
  if (!v.gpu) return;
  if (!wide(a.scope) && !own) return;
  if (now) {
    learn(b, w, bit, v.gpu);
  } else {
    Shared& pending = own ? me.pending_cta : me.pending_gpu;
    w.observes |= !own;
    pending = joined(pending, v.gpu);
  }
}

void LaunchOrder::strong_access(BlockOrder& b, std::uint32_t warp, unsigned lane, bool shared, std::uint64_t address,
                                const events::Access& a) {
  WarpOrder& w = b.warps[warp];
  Variables& variables = shared ? b.variables : variables_;
  const bool reads = a.type != AccessType::store && a.type != AccessType::reduction;
  const bool writes = a.type != AccessType::load;
  const auto it = variables.find(address);
  LaneOrder& me = w.lanes[lane];
  if (reads && it != variables.end()) {
    acquire(b, w, lane, it->second, a);
    if (it->second.seen) {
      me.seen = joined(me.seen, it->second.seen);
      w.observes = true;
    }
  }
  if (!writes) return;
  const bool flag = !shared && a.type == AccessType::store;
  const bool gives = releases(a.order) || me.fence.set;
  if (!gives && !flag) {
    if (a.type == AccessType::store && it != variables.end()) variables.erase(it);  // the store ends the release
    return;
  }
  BlockOrder::Variable& v = variables[address];
  if (a.type == AccessType::store) v = {};
  const Shared now = flag || releases(a.order) ? knowledge(b, warp, lane, moment(b, w, lane)) : nullptr;
  if (flag) {
    v.seen = joined(joined(now, me.seen), b.seen);
    ++w.tick;  // later reads are not part of `now`
  }
  if (!gives) return;
  const MemoryScope scope = releases(a.order) || wide(me.fence_scope) ? a.scope : me.fence_scope;
  v.narrow_fence = wide(a.scope);
  release(b, v, releases(a.order) ? now : knowledge(b, warp, lane, me.fence), scope);
}

void LaunchOrder::weak_write(BlockOrder& b, bool shared, std::uint64_t address) {
  (shared ? b.variables : variables_).erase(address);
}

}  // namespace warpgrind::checkers
