#include "device/calls/site_counting.h"

#include <bit>
#include <cstring>

#include "device/calls/lane_vectors.h"

namespace warpgrind::device {

namespace {

// Constant memory is accessed like global memory and priced by its own rule.
AccessCost cost_of(const AccessRules& rules, const SiteFacts& facts, StateSpace space, AccessType type,
                   const std::int64_t* offsets, LaneMask mask, unsigned bytes) {
  if (facts.space == StateSpace::constant) space = StateSpace::constant;
  switch (space) {
    case StateSpace::shared:
      return shared_cost(rules, type, offsets, mask, bytes);
    case StateSpace::local:
      return local_cost(rules, type, offsets, mask, bytes);
    case StateSpace::constant:
      return constant_cost(rules, type, offsets, mask, bytes);
    default:
      return global_cost(rules, type, offsets, mask, bytes);
  }
}

void add(events::SiteCounts& counts, StateSpace space, const AccessCost& cost, LaneMask mask, std::uint64_t times) {
  const std::uint64_t lanes = static_cast<std::uint64_t>(std::popcount(mask)) * times;
  counts.requests += times;
  counts.lanes += lanes;
  switch (space) {
    case StateSpace::shared:
      counts.shared.add(cost, times);
      counts.shared_requests += times;
      counts.shared_lanes += lanes;
      break;
    case StateSpace::local:
      counts.local.add(cost, times);
      counts.local_requests += times;
      counts.local_lanes += lanes;
      break;
    default:
      counts.global.add(cost, times);
      counts.global_requests += times;
      counts.global_lanes += lanes;
  }
}

void affine_offsets(jit::LaneShape shape, std::int64_t base, std::int64_t kx, std::int64_t ky, std::int64_t* out) {
  for (unsigned l = 0; l < kWarpSize; ++l)
    out[l] = base + kx * static_cast<std::int64_t>(jit::lane_x(shape, l)) +
             ky * static_cast<std::int64_t>(jit::lane_y(shape, l));
}

void fold_lanes(const Launch& launch, const SiteFacts& facts, SiteRecord& record) {
  LanePattern& p = record.lanes;
  if (p.hits == 0) return;
  if (launch.counters)
    add(record.counts, p.space, cost_of(launch.rules, facts, p.space, facts.type, p.offsets, p.mask, facts.bytes),
        p.mask, p.hits);
  p.hits = 0;
}

void fold_affine(const Launch& launch, const SiteFacts& facts, SiteRecord& record, AffinePattern& p) {
  if (p.hits == 0) return;
  std::int64_t offsets[kWarpSize];
  affine_offsets(launch.kernel->shape, p.base, p.kx, p.ky, offsets);
  add(record.counts, p.space, cost_of(launch.rules, facts, p.space, facts.type, offsets, p.mask, facts.bytes), p.mask,
      p.hits);
  p.hits = 0;
}

}  // namespace

void empty_inline_cache(jit::SiteState& state) {
  state.low = ~0ull;
  state.span = 0;
  for (jit::MaskedCount& m : state.masked) m = {~0ull, 0};
}

void count_pattern(Worker& worker, std::uint32_t site, StateSpace space, const std::uint64_t* addresses, LaneMask mask,
                   const Extent& extent) {
  const Launch& launch = *worker.launch;
  SiteRecord& record = worker.records[site];
  const SiteFacts& facts = launch.kernel->sites[site];
  record.used = true;
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint64_t origin = addresses[first] & ~std::uint64_t{255};
  LanePattern& p = record.lanes;
  if (p.hits != 0 && p.mask == mask && p.space == space && same_offsets(p.offsets, addresses, origin, mask)) {
    ++p.hits;
    return;
  }
  fold_lanes(launch, facts, record);
  relative_offsets(p.offsets, addresses, origin, mask);
  p.low = static_cast<std::int64_t>(extent.low - origin);
  p.high = static_cast<std::int64_t>(extent.high - origin);
  p.mask = mask;
  p.space = space;
  p.hits = 1;
  // Lanes on are strictly rising when their extent is that of a full row between the first and the last.
  const auto lanes = static_cast<unsigned>(std::bit_width(mask)) - first;
  p.contiguous = false;
  if (facts.vector == 1 && extent.high - extent.low == std::uint64_t{lanes - 1} * facts.bytes) {
    p.contiguous = true;
    for (LaneMask m = mask; m != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      p.contiguous &= addresses[l] == addresses[first] + std::uint64_t{l - first} * facts.bytes;
    }
  }
}

void count_lanes(Worker& worker, std::uint32_t site, StateSpace space, const std::uint64_t* addresses, LaneMask mask,
                 unsigned bytes, AccessType type) {
  const Launch& launch = *worker.launch;
  if (!launch.counters || mask == 0) return;
  const SiteFacts& facts = launch.kernel->sites[site];
  if (facts.bytes == bytes && facts.type == type)
    return count_pattern(worker, site, space, addresses, mask, extent_of(addresses, mask));
  // Not what the site's facts say (bulk copies, textures): no pattern is kept.
  SiteRecord& record = worker.records[site];
  record.used = true;
  std::int64_t offsets[kWarpSize];
  relative_offsets(offsets, addresses, addresses[std::countr_zero(mask)] & ~std::uint64_t{255}, mask);
  add(record.counts, space, cost_of(launch.rules, facts, space, type, offsets, mask, bytes), mask, 1);
}

void count_affine(Worker& worker, std::uint32_t site, StateSpace space, std::uint64_t base, std::int64_t kx,
                  std::int64_t ky, LaneMask mask, unsigned, AccessType) {
  const Launch& launch = *worker.launch;
  if (!launch.counters || mask == 0) return;
  SiteRecord& record = worker.records[site];
  record.used = true;
  auto low = static_cast<std::uint8_t>(base & 255);
  if ((mask & (mask - 1)) == 0 && (launch.rules.coalescing == CoalescingRule::sectors_32)) {
    low = 0;  // one lane touches one sector or bank wherever it is
    kx = ky = 0;
  }
  for (unsigned k = 0; k < kAffinePatterns; ++k) {
    const std::uint32_t slot = (record.next_affine + k) % kAffinePatterns;
    AffinePattern& p = record.affine[slot];
    if (p.mask == mask && p.base == low && p.kx == kx && p.ky == ky && p.space == space && p.hits != 0) {
      ++p.hits;
      record.next_affine = (slot + 1) % kAffinePatterns;
      return;
    }
  }
  AffinePattern& p = record.affine[record.next_affine];
  record.next_affine = (record.next_affine + 1) % kAffinePatterns;
  fold_affine(launch, launch.kernel->sites[site], record, p);
  p = {kx, ky, 1, mask, low, space};
}

namespace {

void fold_masked(const Launch& launch, const SiteFacts& facts, SiteRecord& record, const jit::SiteState& state,
                 jit::MaskedCount& m) {
  if (m.hits == 0) return;
  std::int64_t offsets[kWarpSize];
  affine_offsets(launch.kernel->shape, static_cast<std::int64_t>(m.tag >> 32), state.key_x, state.key_y, offsets);
  const auto mask = static_cast<LaneMask>(m.tag);
  add(record.counts, facts.space, cost_of(launch.rules, facts, facts.space, facts.type, offsets, mask, facts.bytes),
      mask, m.hits);
  m = {~0ull, 0};
}

}  // namespace

void count_masked(Worker& worker, std::uint32_t site, StateSpace space, std::uint64_t base, std::int64_t kx,
                  std::int64_t ky, LaneMask mask, unsigned bytes, AccessType type) {
  const Launch& launch = *worker.launch;
  if (!launch.counters || mask == 0) return;
  jit::SiteState& state = worker.sites[site];
  const std::uint64_t tag = jit::masked_tag(base, mask);
  jit::MaskedCount& m = state.masked[jit::masked_slot(tag)];
  if (m.tag == tag) {
    ++m.hits;
    return;
  }
  // Costs of a tag that comes again and again are worth a slot; others would only fold all the time.
  constexpr std::uint32_t kLater = 64;
  const bool one_lane = (mask & (mask - 1)) == 0;  // count_affine() needs one pattern for all of these
  if (one_lane || (m.hits != 0 && ++worker.records[site].other_masks % kLater != 0))
    return count_affine(worker, site, space, base, kx, ky, mask, bytes, type);
  SiteRecord& record = worker.records[site];
  record.used = true;
  fold_masked(launch, launch.kernel->sites[site], record, state, m);
  m = {tag, 1};
}

void fold_inline_cache(Worker& worker, std::uint32_t site) {
  jit::SiteState& state = worker.sites[site];
  if (state.low == ~0ull && state.span == 0) return;
  const Launch& launch = *worker.launch;
  if (launch.counters) {
    SiteRecord& record = worker.records[site];
    const SiteFacts& facts = launch.kernel->sites[site];
    const StateSpace space = facts.space;
    record.used = true;
    for (unsigned bin = 0; bin < 256; ++bin) {
      const std::uint64_t times = state.histogram[bin];
      if (times == 0) continue;
      std::int64_t offsets[kWarpSize];
      affine_offsets(launch.kernel->shape, bin, state.key_x, state.key_y, offsets);
      add(record.counts, space, cost_of(launch.rules, facts, space, facts.type, offsets, kFullMask, facts.bytes),
          kFullMask, times);
    }
    for (jit::MaskedCount& m : state.masked) fold_masked(launch, facts, record, state, m);
  }
  std::memset(state.histogram, 0, sizeof state.histogram);
  empty_inline_cache(state);
}

void collect(Worker& worker, events::LaunchCounts& counts) {
  const Launch& launch = *worker.launch;
  const events::KernelFacts& facts = launch.kernel->code->facts();
  for (std::uint32_t s = 0; s < facts.sites.size(); ++s) {
    fold_inline_cache(worker, s);
    SiteRecord& record = worker.records[s];
    record.range = {};
    record.refills = record.other_masks = 0;
    if (!record.used) continue;
    fold_lanes(launch, launch.kernel->sites[s], record);
    for (AffinePattern& p : record.affine) fold_affine(launch, launch.kernel->sites[s], record, p);
    events::SiteCounts& to = counts.sites[s];
    const events::SiteCounts& from = record.counts;
    to.requests += from.requests;
    to.lanes += from.lanes;
    to.global.add(from.global);
    to.shared.add(from.shared);
    to.local.add(from.local);
    to.global_requests += from.global_requests;
    to.shared_requests += from.shared_requests;
    to.local_requests += from.local_requests;
    to.global_lanes += from.global_lanes;
    to.shared_lanes += from.shared_lanes;
    to.local_lanes += from.local_lanes;
    record.counts = {};
    record.used = false;
    record.next_affine = 0;
  }
  if (launch.counters) {
    const jit::CompiledKernel& code = *launch.kernel->code;
    const std::uint64_t* board = worker.scoreboard;
    for (std::size_t b = 0; b < counts.blocks.size(); ++b) {
      counts.blocks[b].warps += board[2 * b];
      counts.blocks[b].lanes += board[2 * b + 1];
    }
    for (std::uint32_t g = 0; g < counts.guard_lanes.size(); ++g) counts.guard_lanes[g] += board[code.guard_slot(g)];
    for (std::uint32_t b = 0; b < counts.branches.size(); ++b) {
      const std::uint64_t* slot = board + code.branch_slot(b);
      counts.branches[b].executed += slot[0];
      counts.branches[b].divergent += slot[1];
      counts.branches[b].taken_lanes += slot[2];
    }
    for (std::uint32_t e = 0; e < counts.edges.size(); ++e) {
      const std::uint64_t* slot = board + code.edge_slot(e);
      counts.edges[e].warps += slot[0];
      counts.edges[e].lanes += slot[1];
    }
    std::memset(worker.scoreboard, 0, code.scoreboard_slots() * sizeof(std::uint64_t));
  }
  counts.warps_launched += worker.warps_ended;
  counts.threads_launched += worker.threads_ended;
}

}  // namespace warpgrind::device
