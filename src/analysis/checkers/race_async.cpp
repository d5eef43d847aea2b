// Happens-before order: effects of asynchronous copies, mbarriers, fences between proxies, and wgmma.
#include <algorithm>
#include <bit>

#include "checkers/cluster_exits.h"
#include "checkers/kernel_place.h"
#include "checkers/race_order.h"

namespace warpgrind::checkers {

namespace {

template <class F>
void each_lane_of(LaneMask mask, F&& f) {
  for (LaneMask m = mask; m != 0; m &= m - 1) f(static_cast<unsigned>(std::countr_zero(m)));
}

}  // namespace

// ---- Proxies

void LaunchOrder::proxy_fence(BlockOrder& b, const events::Fence& e) {
  WarpOrder& w = b.warps[e.warp];
  const SiteRole role = e.site < roles_.size() ? roles_[e.site] : SiteRole::fence_async;
  ProxyFences::Kept kept{e.mask, b.epoch, w.tick, {}, nullptr};
  kept.of = {role == SiteRole::fence_async || role == SiteRole::fence_async_global,
             role == SiteRole::fence_async || role == SiteRole::fence_async_shared};
  if (!kept.of[0] && !kept.of[1]) return;
  for (std::size_t space = 0; space < ProxyFences::kSpaces; ++space)
    if (kept.of[space])
      each_lane_of(e.mask, [&](unsigned l) { w.proxy_fences.newest[space][l] = {b.epoch, w.tick, true}; });
  kept.knew = knowledge(b, e.warp, e.mask);
  if (w.proxy_fences.kept.size() == ProxyFences::kKept) w.proxy_fences.kept.erase(w.proxy_fences.kept.begin());
  w.proxy_fences.kept.push_back(std::move(kept));
  ++w.tick;
}

// A fence orders the write if it stands on the way from it to the access: after the write in the writing thread, before
// the access in the accessing thread, or between them in a third one (PTX ISA, "Proxy-preserved Base Causality Order").
bool LaunchOrder::proxy_fenced(const Stamp& q, unsigned lane, const BlockOrder* writers, bool shared,
                               const BlockOrder& b, const WarpOrder& w, unsigned by) const {
  if (!writers || q.warp >= writers->warps.size()) return true;
  const auto space = static_cast<std::size_t>(shared);
  const ProxyFences::At& own = writers->warps[q.warp].proxy_fences.newest[space][lane];
  if (own.set && (own.epoch > q.epoch || (own.epoch == q.epoch && own.tick >= q.tick))) return true;
  for (std::uint32_t of = 0; of < b.warps.size(); ++of)
    for (const ProxyFences::Kept& f : b.warps[of].proxy_fences.kept) {
      if (!f.of[space]) continue;
      const bool known = (q.block == b.number && q.epoch < f.epoch) ||
                         (f.knew && f.knew->knows(q.block, q.warp, lane, q.epoch, q.tick));
      if (!known) continue;
      if (&b.warps[of] == &w || f.epoch < b.epoch) return true;
      const auto at = static_cast<unsigned>(std::countr_zero(f.mask));
      for (const Shared* knows : {&w.lanes[by].known, &w.known, &b.known})
        if (*knows && (*knows)->knows(b.number, of, at, f.epoch, f.tick)) return true;
    }
  return false;
}

// ---- Asynchronous copies

std::uint64_t LaunchOrder::copy_issued(WarpOrder& w, LaneMask mask) {
  bool fresh = w.open_copy == 0;
  each_lane_of(mask, [&](unsigned l) {
    const auto& open = w.lanes[l].open;
    fresh |= !open.empty() && open.back() != w.open_copy;
  });
  if (fresh) w.open_copy = copies_ += 2;
  each_lane_of(mask, [&](unsigned l) {
    auto& open = w.lanes[l].open;
    if (open.empty() || open.back() != w.open_copy) open.push_back(w.open_copy);
  });
  return w.open_copy;
}

std::uint64_t LaunchOrder::store_issued(WarpOrder& w, std::uint32_t site) {
  if (!is_async_store(site)) return 0;
  if (w.async_store.group == 0 || w.async_store.completed) w.async_store = {copies_ += 2, false};
  return w.async_store.group;
}

void LaunchOrder::copy_reads(WarpOrder& w, const events::Access& a) {
  if (!w.copy_sources) w.copy_sources = std::make_unique<WarpOrder::CopySources>();
  WarpOrder::CopySources& sources = *w.copy_sources;
  sources.site = a.site;
  sources.lanes = a.mask;
  each_lane_of(a.mask, [&](unsigned l) {
    sources.from[l] = a.addresses[l];
    sources.bytes[l] = a.bytes_of(l);
  });
}

bool LaunchOrder::reads_the_same(const WarpOrder& w, std::uint32_t site, unsigned first_lane, unsigned second_lane) {
  if (!w.copy_sources || w.copy_sources->site != site) return false;
  const WarpOrder::CopySources& s = *w.copy_sources;
  const bool first = (s.lanes >> first_lane & 1) != 0, second = (s.lanes >> second_lane & 1) != 0;
  if (!first || !second) return first == second;
  return s.from[first_lane] == s.from[second_lane] && s.bytes[first_lane] == s.bytes[second_lane];
}

std::uint64_t LaunchOrder::bulk_copy_part(WarpOrder& w, std::uint32_t site, LaneMask mask, const CopyPart& part) {
  WarpOrder::BulkCopy& copy = w.bulk_copy;
  const bool over = !part.continues && (copy.completed || copy.site != site);
  if (part.begins || over || copy.group == 0) {
    const bool one_instruction = copy.site == site && copy.tick == w.tick && (copy.lanes & mask) == 0;
    copy.group = copies_ += 2;
    copy.site = site;
    copy.completed = false;
    if (!one_instruction) {
      copy.first = copy.group;
      copy.tick = w.tick;
      copy.lanes = copy.wrote = 0;
    }
    copy.lanes |= mask;
    each_lane_of(mask, [&](unsigned l) {
      w.lanes[l].bulk_open.push_back(copy.group);
      copy.from[l] = part.addresses[l];
    });
  }
  if (!part.writes) return copy.group;
  each_lane_of(mask & ~copy.wrote, [&](unsigned l) { copy.to[l] = part.addresses[l]; });
  copy.wrote |= mask;
  return written_side(copy.group);
}

bool LaunchOrder::copies_the_same(const WarpOrder& w, const Stamp& first, unsigned first_lane, unsigned second_lane) {
  const WarpOrder::BulkCopy& copy = w.bulk_copy;
  const LaneMask both = LaneMask{1} << first_lane | LaneMask{1} << second_lane;
  return first.copy >= copy.first && (copy.wrote & both) == both && copy.from[first_lane] == copy.from[second_lane] &&
         copy.to[first_lane] == copy.to[second_lane];
}

void LaunchOrder::async_group(BlockOrder& b, const events::AsyncGroup& e) {
  using Operation = events::AsyncGroupOperation;
  WarpOrder& w = b.warps[e.warp];
  const bool all = e.operation == Operation::wait_all, read = e.operation == Operation::bulk_wait_read;
  const bool bulk = e.operation == Operation::bulk_commit || e.operation == Operation::bulk_wait || read;
  each_lane_of(e.mask, [&](unsigned l) {
    LaneOrder& lane = w.lanes[l];
    auto& groups = bulk ? lane.bulk_groups : lane.groups;
    auto& open = bulk ? lane.bulk_open : lane.open;
    if (e.operation == Operation::commit || e.operation == Operation::bulk_commit) {
      groups.push_back(std::move(open));
      open.clear();
      return;
    }
    Knowledge over;
    const std::size_t done = groups.size() - (all ? 0 : std::min<std::size_t>(e.pending, groups.size()));
    for (std::size_t i = read ? lane.bulk_read : 0; i < done; ++i)
      for (const std::uint64_t copy : groups[i]) {
        over.learn_copy(copy, l);
        if (!read) over.learn_copy(written_side(copy), l);
      }
    if (read) {
      lane.bulk_read = std::max(lane.bulk_read, done);
    } else {
      groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(done));
      if (bulk) lane.bulk_read -= std::min(lane.bulk_read, done);
    }
    if (all) {
      for (const std::uint64_t copy : open) over.learn_copy(copy, l);
      open.clear();
    }
    if (over.empty()) return;
    w.lanes_differ = true;
    lane.known = joined(lane.known, std::make_shared<Knowledge>(std::move(over)));
  });
  if (e.operation == Operation::commit || e.operation == Operation::wait_all) w.open_copy = 0;
}

// ---- wgmma and tcgen05

void LaunchOrder::products(BlockOrder& b, WarpOrder& w, const events::WarpSync& e, SiteRole role,
                           std::uint32_t pending) {
  constexpr auto kUnit = Knowledge::Unit::wgmma;
  if (role == SiteRole::product_commit) ++w.product_groups[static_cast<std::size_t>(kUnit)];
  const std::uint32_t groups = w.groups_of(kUnit);
  if (role != SiteRole::product_wait || groups <= pending) return;
  // The four warps of a warpgroup have the same groups, and one that waits may speak for all: CUTLASS hands a stage
  // back by one arrival of a warpgroup.
  constexpr std::uint32_t kWarps = 4;
  const std::uint32_t first = e.warp / kWarps * kWarps;
  const auto end = std::min<std::uint32_t>(first + kWarps, static_cast<std::uint32_t>(b.warps.size()));
  auto over = std::make_shared<Knowledge>();
  for (std::uint32_t of = first; of < end; ++of) over->learn_products(kUnit, b.number, of, groups - pending);
  learn(b, w, e.mask, over);
}

bool LaunchOrder::knows_products(const Stamp& q, const BlockOrder& b, const WarpOrder& w, unsigned by) {
  const std::uint32_t group = q.product_group();
  const auto unit = static_cast<std::size_t>(q.unit());
  if (q.block == b.number && b.warps[q.warp].products_known[unit] >= group) return true;
  for (const Shared* known : {&w.lanes[by].known, &w.known, &b.known})
    if (*known && (*known)->products(q.unit(), q.block, q.warp) >= group) return true;
  return false;
}

// ---- mbarriers

// Not so mbarrier.complete_tx, st.async and red.async.
bool LaunchOrder::completes_copy(const events::MBarrier& e) const {
  if (e.site >= launch_.facts->sites.size()) return true;
  const SiteKind kind = launch_.facts->sites[e.site].kind;
  return kind == SiteKind::bulk_copy || kind == SiteKind::launch_control;
}

MBarrierOrder& LaunchOrder::mbarrier_of(const BlockOrder& b, const events::MBarrier& e, unsigned l) {
  const std::int64_t ranks = ranks_apart(e.offsets[l]);
  const std::uint64_t owner = ranks == 0 ? b.number : block_of_cluster(launch_, e.block, ranks);
  return mbarriers_[{owner, events::offset_in_owner(e.offsets[l])}];
}

// Is the use ordered after the initialisation by another thread?
void LaunchOrder::use(const MBarrierOrder& m, const BlockOrder& b, const events::MBarrier& e, unsigned l) {
  const WarpOrder& w = b.warps[e.warp];
  const Stamp& made = m.made.stamp;
  if (!m.made.set || (made.block == b.number && made.warp == e.warp)) return;
  if (ordered(made, m.made.lane, b, w, l, 0) == Order::ordered) return;
  if (b.inits && b.inits->knows(made.block, made.warp, m.made.lane, made.epoch, made.tick)) return;
  for (const EarlyUse& known : early_uses_)
    if (known.made.site == m.made.site && known.site == e.site) return;
  Stamp now;
  now.block = b.number;
  now.epoch = b.epoch;
  now.tick = w.tick;
  now.warp = static_cast<std::uint8_t>(e.warp);
  early_uses_.push_back({m.made, now, e.site, l});
}

void LaunchOrder::mbarrier(BlockOrder& b, const events::MBarrier& e) {
  using Operation = events::MBarrierOperation;
  constexpr std::size_t kCopies = 64;
  WarpOrder& w = b.warps[e.warp];
  bool gave = false;
  each_lane_of(e.mask, [&](unsigned l) {
    MBarrierOrder& m = mbarrier_of(b, e, l);
    const LaneMask bit = LaneMask{1} << l;
    const auto arrive = [&](const Shared& what) {
      if (what) m.arriving.join(*what);
    };
    if (e.operation == Operation::init) {
      m = {};
      m.made.set = true;
      m.made.site = e.site;
      m.made.lane = l;
      m.made.stamp.block = b.number;
      m.made.stamp.epoch = b.epoch;
      m.made.stamp.tick = w.tick;
      m.made.stamp.warp = static_cast<std::uint8_t>(e.warp);
      return;
    }
    if (e.operation != Operation::pending_count) use(m, b, e, l);
    switch (e.operation) {
      case Operation::expect:
        m.expected += e.bytes ? e.bytes[l] : 0;
        break;
      case Operation::arrive:
      case Operation::arrive_drop:
        m.expected += e.bytes ? e.bytes[l] : 0;
        m.arrived[{b.number, e.warp}] |= bit;
        if (e.site < roles_.size() && roles_[e.site] == SiteRole::tensor_commit) {
          // tcgen05.commit: the mbarrier tracks all products and copies that the thread has issued. They began after
          // all that the thread has waited for, such as the copies of their operands. No release: not its own accesses.
          constexpr auto kUnit = Knowledge::Unit::tcgen05;
          arrive(learned(b, w, l));
          m.arriving.learn_products(kUnit, b.number, e.warp, ++w.product_groups[static_cast<std::size_t>(kUnit)]);
          break;
        }
        if (releases(e.order)) {
          arrive(knowledge(b, e.warp, bit));
          gave = true;
        } else {
          arrive(released_by_fence(b, e, l));
        }
        break;
      case Operation::complete:
        if (is_async_store(e.site))
          m.arriving.learn_copy(w.async_store.group, l);
        else if (!completes_copy(e))
          arrive(released_by_fence(b, e, l));  // mbarrier.complete_tx is relaxed
        if (w.bulk_copy.group != 0 && completes_copy(e)) {
          m.arriving.learn_copy(w.bulk_copy.group, l);
          m.arriving.learn_copy(written_side(w.bulk_copy.group), l);
          m.copies.push_back({w.bulk_copy.group, m.number});
          if (m.copies.size() > kCopies) m.copies.pop_front();
          w.bulk_copy.completed = true;
          std::erase(w.lanes[l].bulk_open, w.bulk_copy.group);
        }
        break;
      case Operation::copy_arrive:
      case Operation::copy_arrive_noinc:
        for (const auto& group : w.lanes[l].groups)
          for (const std::uint64_t copy : group) m.arriving.learn_copy(copy, l);
        for (const std::uint64_t copy : w.lanes[l].open) m.arriving.learn_copy(copy, l);
        break;
      default:
        break;
    }
    if (e.phases && (e.phases[l] != 0) != m.phase) {  // the phase is over
      m.phase = e.phases[l] != 0;
      m.passed = joined(m.passed, std::make_shared<Knowledge>(std::move(m.arriving)));
      m.arriving = {};
      m.expected = 0;
      ++m.number;
    }
    if (!events::is_wait(e.operation) || e.results[l] == 0) return;
    m.waits[{b.number, e.warp}] = {m.number - 1, e.site};
    if (acquires(e.order)) {
      learn(b, w, bit, m.passed);
    } else {  // a relaxed wait: known after the next fence
      LaneOrder& lane = w.lanes[l];
      Shared& pending = launch_.cluster.count() > 1 ? lane.pending_gpu : lane.pending_cta;
      pending = joined(pending, m.passed);
    }
  });
  if (gave) ++w.tick;
  if (e.operation == Operation::complete && is_async_store(e.site)) w.async_store.completed = true;
}

std::optional<std::uint32_t> LaunchOrder::wait_without_arrival(const Stamp& q, unsigned lane, std::uint64_t block,
                                                               std::uint32_t warp) const {
  const std::pair<std::uint64_t, std::uint32_t> before{q.block, q.warp};
  for (const auto& [place, m] : mbarriers_) {
    const auto wait = m.waits.find({block, warp});
    if (wait == m.waits.end() || m.waits.contains(before)) continue;
    const auto arrived = m.arrived.find(before);
    const bool itself = arrived != m.arrived.end() && (arrived->second >> lane & 1) != 0;
    const bool neighbour = std::any_of(m.arrived.begin(), m.arrived.end(),
                                       [&](const auto& a) { return a.first.first == q.block && a.second != 0; });
    if (!itself && neighbour) return wait->second.site;
  }
  return std::nullopt;
}

WrongWait LaunchOrder::wrong_wait(const Stamp& copy, std::uint64_t block, std::uint32_t warp) const {
  for (const auto& [place, m] : mbarriers_)
    for (const MBarrierOrder::Copy& c : m.copies) {
      if (written_side(c.copy) != written_side(copy.copy)) continue;
      const auto wait = m.waits.find({block, warp});
      if (wait == m.waits.end() || wait->second.phase >= c.phase) return {};
      // A copy of another block may also come too early because that block did not wait until the buffer was empty.
      const bool early = place.first == copy.block && c.phase == m.number && m.expected == 0 &&
                         wait->second.phase + 1 == c.phase && c.phase > 0;
      return {early ? WrongWait::Kind::early_phase : WrongWait::Kind::phase_before, wait->second.site,
              wait->second.phase};
    }
  return {};
}

}  // namespace warpgrind::checkers
