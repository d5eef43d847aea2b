// Counting of requests, sectors and wavefronts of memory sites.
#include "device/access/count.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "device/access/inline_cache.h"
#include "device/access/lane_requests.h"
#include "device/access/texel_requests.h"
#include "gpu/local_kinds.h"
#include "gpu/neighbours.h"
#include "gpu/request_costs.h"

namespace warpgrind::device {

namespace {

void affine_offsets(jit::LaneShape shape, std::int64_t base, std::int64_t kx, std::int64_t ky, std::int64_t* out) {
  for (unsigned l = 0; l < kWarpSize; ++l)
    out[l] = base + kx * static_cast<std::int64_t>(jit::lane_x(shape, l)) +
             ky * static_cast<std::int64_t>(jit::lane_y(shape, l));
}

// The site's form for an access to `space`.
AccessForm form_in(const SiteFacts& facts, StateSpace space) {
  AccessForm form = facts.form;
  form.space = space;
  return form;
}

// Adds `times` requests of these addresses to `space`. A merged access starts at its address rounded down to its width;
// that may lie before the first requested word.
void add_requests(const Launch& launch, const SiteFacts& facts, SiteRecord& record, StateSpace space,
                  const std::int64_t* offsets, LaneMask mask, std::uint64_t times) {
  AccessForm form = form_in(facts, space);
  record.counts.add(space, access_cost(launch.rules, form, offsets, mask), mask, times);
  if (facts.joint_bytes == 0) return;
  form.bytes = facts.joint_bytes;
  std::int64_t begins[kWarpSize];
  for (unsigned l = 0; l < kWarpSize; ++l) begins[l] = offsets[l] & -std::int64_t{facts.joint_bytes};
  record.counts.joint.add(access_cost(launch.rules, form, begins, mask), times);
}

void fold_lanes(const Launch& launch, const SiteFacts& facts, SiteRecord& record) {
  LanePattern& p = record.lanes;
  if (p.hits == 0) return;
  if (launch.counters) add_requests(launch, facts, record, p.space, p.offsets, p.mask, p.hits);
  p.hits = 0;
}

void fold_affine(const Launch& launch, const SiteFacts& facts, SiteRecord& record, AffinePattern& p) {
  if (p.hits == 0) return;
  std::int64_t offsets[kWarpSize];
  affine_offsets(launch.kernel->shape, p.base, p.kx, p.ky, offsets);
  add_requests(launch, facts, record, p.space, offsets, p.mask, p.hits);
  p.hits = 0;
}

}  // namespace

void empty_inline_cache(jit::SiteState& state) {
  state.low = ~0ull;
  state.span = 0;
  state.place_bits = jit::kPlaceBits;
  for (jit::MaskedCount& m : state.masked) m = {~0ull, 0};
}

namespace {

// Whether active lanes have adjacent elements, in the order of lanes.
bool is_contiguous(const Access& a, const Extent& x) {
  const auto first = static_cast<unsigned>(std::countr_zero(a.mask));
  const auto lanes = static_cast<unsigned>(std::bit_width(a.mask)) - first;
  if (a.vector != 1 || x.high - x.low != std::uint64_t{lanes - 1} * a.bytes()) return false;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    if (a.addresses[l] != a.addresses[first] + std::uint64_t{l - first} * a.bytes()) return false;
  }
  return true;
}

void count_pattern(const Access& a, const Extent& x) {
  Worker& worker = worker_of(*a.context);
  const Launch& launch = *worker.launch;
  SiteRecord& record = worker.records[a.site];
  record.used = true;
  const std::uint64_t origin = a.addresses[std::countr_zero(a.mask)] & ~std::uint64_t{255};
  LanePattern& p = record.lanes;
  if (p.hits != 0 && p.mask == a.mask && p.space == a.form.space &&
      same_offsets(p.offsets, a.addresses, origin, a.mask)) {
    ++p.hits;
    return;
  }
  fold_lanes(launch, launch.kernel->sites[a.site], record);
  relative_offsets(p.offsets, a.addresses, origin, a.mask);
  p.low = static_cast<std::int64_t>(x.low - origin);
  p.high = static_cast<std::int64_t>(x.high - origin);
  p.mask = a.mask;
  p.space = a.form.space;
  p.hits = 1;
  p.contiguous = is_contiguous(a, x);
}

// Counts an access whose lanes each move a contiguous range.
void count_stretches(const Access& a) {
  Worker& worker = worker_of(*a.context);
  const Launch& launch = *worker.launch;
  if (!launch.counters) return;
  AccessCost sum;
  std::uint64_t requests = 0;
  for (LaneMask m = a.mask; m != 0; m &= m - 1, ++requests) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    sum.add(stretch_cost(launch.rules, a.form.space, a.form.type, static_cast<std::int64_t>(a.addresses[lane]),
                         a.bytes_of(lane)));
  }
  SiteRecord& record = worker.records[a.site];
  record.used = true;
  record.counts.add(a.form.space, sum, a.mask, 1, requests);
}

// Counts one request that differs from the site's facts (the two sides of cp.async, surfaces). No pattern is kept.
void count_once(const Access& a) {
  Worker& worker = worker_of(*a.context);
  const Launch& launch = *worker.launch;
  if (!launch.counters) return;
  SiteRecord& record = worker.records[a.site];
  record.used = true;
  std::int64_t offsets[kWarpSize];
  relative_offsets(offsets, a.addresses, a.addresses[std::countr_zero(a.mask)] & ~std::uint64_t{255}, a.mask);
  record.counts.add(a.form.space, access_cost(launch.rules, a.form, offsets, a.mask), a.mask);
}

}  // namespace

void count(const Access& a, const Extent& x) {
  switch (a.path) {
    case events::AccessPath::instruction:
      return count_pattern(a, x);
    case events::AccessPath::bulk_copy:
    case events::AccessPath::bulk_store:
      return count_stretches(a);
    case events::AccessPath::multimem:
      return a.sizes ? count_stretches(a) : count_once(a);
    default:
      return count_once(a);
  }
}

void count_box(jit::WarpContext& context, std::uint32_t site, unsigned lane, StateSpace space, const AccessCost& cost) {
  Worker& worker = worker_of(context);
  if (!worker.launch->counters) return;
  SiteRecord& record = worker.records[site];
  record.used = true;
  record.counts.add(space, cost, LaneMask{1} << lane);
}

void count_copy_place(jit::WarpContext& context, std::uint32_t site, SharedOffset place) {
  constexpr std::size_t kMost = 256;  // of a block; a ring has fewer
  Worker& worker = worker_of(context);
  if (!worker.launch->counters) return;
  auto& places = fiber_of(context).block->copy_places;
  if (places.size() == kMost || std::find(places.begin(), places.end(), raw(place)) != places.end()) return;
  places.push_back(raw(place));
  SiteRecord& record = worker.records[site];
  record.used = true;
  ++record.counts.copy_places;
}

// Each group of neighbouring lanes makes one request, which touches the sectors of all their texels.
void count_texels(const Access& a, LaneMask mask, const Texels& texels) {
  Worker& worker = worker_of(*a.context);
  const Launch& launch = *worker.launch;
  if (!launch.counters || mask == 0) return;
  AccessCost sum, request;
  std::uint64_t requests = 0;
  const auto close = [&] {
    if (request.bytes_asked == 0) return;
    request.ideal_sectors = std::min((request.bytes_asked + kSectorBytes - 1) / kSectorBytes, request.distinct_sectors);
    sum.add(std::exchange(request, {}));
    ++requests;
  };
  each_texel_request(texels, a.group, [&](const std::uint64_t* at, unsigned n, bool first) {
    if (first) close();
    std::int64_t offsets[kWarpSize] = {};
    std::copy_n(at, n, offsets);
    request.add(access_cost(launch.rules, a.form, offsets, n == kWarpSize ? kFullMask : (LaneMask{1} << n) - 1));
  });
  close();
  SiteRecord& record = worker.records[a.site];
  record.used = true;
  if (requests) record.counts.add(a.form.space, sum, mask, 1, requests);
}

bool count_texels(Worker& worker, std::uint32_t site, LaneMask mask, std::span<const LaneTexels> texels) {
  const Launch& launch = *worker.launch;
  if (!launch.counters || mask == 0) return true;
  GridTexels grids[kMostPlanes];
  if (launch.rules.coalescing != CoalescingRule::sectors_32 || texels.size() > kMostPlanes) return false;
  for (std::size_t i = 0; i < texels.size(); ++i) {
    const LaneTexels& t = texels[i];
    if (!t.grid) return false;
    grids[i] = {t.grid, t.axes, t.corners, t.corner, t.on, t.index};
  }
  SiteRecord& record = worker.records[site];
  record.used = true;
  if (!record.texels) record.texels = std::make_unique<GridCounter>();
  record.texels->count({grids, texels.size()}, texels.front().group, mask);
  return true;
}

void count_affine(const Access& a, std::uint64_t base, std::int64_t kx, std::int64_t ky) {
  Worker& worker = worker_of(*a.context);
  const Launch& launch = *worker.launch;
  if (!launch.counters || a.mask == 0) return;
  SiteRecord& record = worker.records[a.site];
  record.used = true;
  auto low = static_cast<std::uint8_t>(base & 255);
  if ((a.mask & (a.mask - 1)) == 0 && is_same_everywhere(launch.rules, 0, 0)) {
    low = 0;
    kx = ky = 0;
  }
  for (unsigned k = 0; k < kAffinePatterns; ++k) {
    const std::uint32_t slot = (record.next_affine + k) % kAffinePatterns;
    AffinePattern& p = record.affine[slot];
    if (p.mask == a.mask && p.base == low && p.kx == kx && p.ky == ky && p.space == a.form.space && p.hits != 0) {
      ++p.hits;
      record.next_affine = (slot + 1) % kAffinePatterns;
      return;
    }
  }
  AffinePattern& p = record.affine[record.next_affine];
  record.next_affine = (record.next_affine + 1) % kAffinePatterns;
  fold_affine(launch, launch.kernel->sites[a.site], record, p);
  p = {kx, ky, 1, a.mask, low, a.form.space};
}

namespace {

// In tags of count_masked_alone(). Machine code's tags never have this bit.
constexpr std::uint64_t kAlone = std::uint64_t{1} << 62;

// Adds hits of the site's inline cache to its counts and, unless `alone`, those of its followers. `state` holds the
// keys of the hits.
void fold_hits(Worker& worker, std::uint32_t site, const jit::SiteState& state, std::uint64_t base, LaneMask mask,
               std::uint64_t hits, bool alone = false) {
  const Launch& launch = *worker.launch;
  const auto add = [&](std::uint32_t to, std::uint64_t at) {
    std::int64_t offsets[kWarpSize];
    affine_offsets(launch.kernel->shape, static_cast<std::int64_t>(at & 255), state.key_x, state.key_y, offsets);
    const SiteFacts& facts = launch.kernel->sites[to];
    worker.records[to].used = true;
    add_requests(launch, facts, worker.records[to], facts.form.space, offsets, mask, hits);
  };
  add(site, base);
  if (alone) return;
  for (const SiteFacts::Follower& f : launch.kernel->sites[site].followers)
    add(f.site, base + static_cast<std::uint64_t>(f.distance));
}

// Calls f(bin, hits) for each non-empty bin and empties it. Usually at most one bin has hits; in a launch of a few
// warps the search takes all of the time.
template <class F>
void take_bins(std::uint64_t (&bins)[256], F&& f) {
  constexpr unsigned kTogether = 16;
  for (unsigned first = 0; first < std::size(bins); first += kTogether) {
    std::uint64_t any = 0;
    for (unsigned k = 0; k < kTogether; ++k) any |= bins[first + k];
    if (any == 0) continue;
    for (unsigned bin = first; bin < first + kTogether; ++bin)
      if (const std::uint64_t hits = std::exchange(bins[bin], 0)) f(bin, hits);
  }
}

void fold_bin(Worker& worker, std::uint32_t site, const jit::SiteState& state, unsigned bin, std::uint64_t hits) {
  const bool local = worker.launch->kernel->sites[site].form.space == StateSpace::local;
  WG_DEBUG_ASSERT(!local || bin < kLocalKinds);
  if (local && bin == 0) return;  // no lane was active
  fold_hits(worker, site, state, local ? 0 : bin, local ? lanes_of_local_kind(bin) : kFullMask, hits);
}

void fold_masked(Worker& worker, std::uint32_t site, const jit::SiteState& state, jit::MaskedCount& m) {
  if (m.hits == 0) return;
  fold_hits(worker, site, state, m.tag >> 32 & jit::kPlaceBits, static_cast<LaneMask>(m.tag), m.hits,
            (m.tag & kAlone) != 0);
  m = {~0ull, 0};
}

}  // namespace

void count_masked_alone(jit::WarpContext& context, std::uint32_t site, std::uint64_t base, LaneMask mask) {
  jit::SiteState& state = context.sites[site];
  const std::uint64_t tag = jit::masked_tag(base, state.place_bits, mask) | kAlone;
  jit::MaskedCount& m = state.masked[jit::masked_slot(tag)];
  if (m.tag != tag) {
    fold_masked(worker_of(context), site, state, m);
    m.tag = tag;
  }
  ++m.hits;
}

void count_masked(const Access& a, std::uint64_t base, std::int64_t kx, std::int64_t ky) {
  Worker& worker = worker_of(*a.context);
  const Launch& launch = *worker.launch;
  if (!launch.counters || a.mask == 0) return;
  jit::SiteState& state = a.context->sites[a.site];
  if (a.form.space == StateSpace::local) {
    ++state.histogram[local_kind(a.mask)];
    return;
  }
  const std::uint64_t tag = jit::masked_tag(base, state.place_bits, a.mask);
  jit::MaskedCount& m = state.masked[jit::masked_slot(tag)];
  // A leader's followers are not counted here, so a leader's slot is only for later accesses in machine code.
  const bool leads = !worker.launch->kernel->sites[a.site].followers.empty();
  if (m.tag == tag && !leads) {
    ++m.hits;
    return;
  }
  // A frequent tag is worth a slot; replacing slots for other tags would only cost folding.
  constexpr std::uint32_t kLater = 64;
  if (m.hits != 0 && ++worker.records[a.site].other_masks % kLater != 0) {
    if (!keep_affine(a, {base, kx, ky})) count_affine(a, base, kx, ky);
    return;
  }
  worker.records[a.site].used = true;
  fold_masked(worker, a.site, state, m);
  m = {tag, leads ? 0u : 1u};
  if (leads) count_affine(a, base, kx, ky);
}

namespace {

// Adds the total cost of `requests` requests of `lanes` lanes.
void add_sum(events::SiteCounts& counts, StateSpace space, const AccessCost& cost, std::uint64_t requests,
             std::uint64_t lanes) {
  counts.requests += requests;
  counts.lanes += lanes;
  const bool shared = space == StateSpace::shared, local = space == StateSpace::local;
  (shared ? counts.shared : local ? counts.local : counts.global).add(cost);
  (shared ? counts.shared_requests : local ? counts.local_requests : counts.global_requests) += requests;
  (shared ? counts.shared_lanes : local ? counts.local_lanes : counts.global_lanes) += lanes;
}

void fold_steps(Worker& worker, std::uint32_t site, jit::LaneRequests& lanes) {
  const Launch& launch = *worker.launch;
  const SiteFacts& facts = launch.kernel->sites[site];
  take_bins(lanes.in_steps, [&](unsigned bin, std::uint64_t hits) {
    std::int64_t offsets[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = bin + static_cast<std::int64_t>(lanes.steps[l]);
    worker.records[site].used = true;
    add_requests(launch, facts, worker.records[site], facts.form.space, offsets, kFullMask, hits);
  });
}

}  // namespace

void choose_steps(Worker& worker, std::uint32_t site, jit::LaneRequests& lanes, const std::uint64_t* addresses) {
  const std::uint64_t step = addresses[1] - addresses[0];
  if (lanes.steps[1] == step) return;  // already set; these lanes were served by the device
  for (unsigned l = 2; l < kWarpSize; ++l)
    if (addresses[l] - addresses[l - 1] != step) return;
  constexpr std::uint32_t kEager = 16, kLater = 64;  // sites that alternate between steps keep theirs
  if (const std::uint32_t n = worker.records[site].lane_steps++; n >= kEager && n % kLater != 0) return;
  fold_steps(worker, site, lanes);
  for (unsigned l = 0; l < kWarpSize; ++l) lanes.steps[l] = step * l;
}

void fold_lane_requests(Worker& worker, std::uint32_t site, jit::LaneRequests& lanes) {
  if (lanes.kept == 0) return;
  const Launch& launch = *worker.launch;
  const SiteFacts& facts = launch.kernel->sites[site];
  SiteRecord& record = worker.records[site];
  record.used = true;
  AccessForm form = facts.form;
  if (form.space == StateSpace::generic || form.space == StateSpace::none) form.space = StateSpace::global;
  WG_DEBUG_ASSERT(lanes.kept <= kKeptRequests);
  const auto count = static_cast<unsigned>(lanes.kept);
  const auto skew = static_cast<std::uint32_t>(lanes.low & 255);
  std::uint64_t lanes_on = 0;
  for (unsigned r = 0; r < count; ++r) lanes_on += static_cast<unsigned>(std::popcount(lanes.requests.masks[r]));
  const std::uint64_t limit = lanes.places * form.bytes;
  const auto cost = [&](unsigned begins) {
    return requests_cost(launch.rules, form, lanes.requests, count, limit, skew, begins, request_counting());
  };
  add_sum(record.counts, form.space, cost(1), count, lanes_on);
  if (facts.joint_bytes != 0) {
    form.bytes = facts.joint_bytes;
    record.counts.joint.add(cost(facts.joint_bytes));
  }
  if (lanes.requests.masks[count - 1] == kFullMask) {
    std::uint64_t last[kWarpSize];
    std::copy_n(lanes.requests.offsets[count - 1], kWarpSize, last);
    choose_steps(worker, site, lanes, last);
  }
  lanes.kept = 0;
}

namespace {

void fold_texels(SiteRecord& record) {
  if (!record.texels) return;
  const GridCounter::Sums sums = record.texels->take();
  AccessCost cost;
  cost.sectors = cost.distinct_sectors = cost.transactions = sums.counts.sectors;
  cost.lines = cost.distinct_lines = sums.counts.lines;
  cost.ideal_sectors = sums.counts.ideal_sectors;
  cost.bytes_moved = cost.sectors * kSectorBytes;
  cost.bytes_asked = sums.bytes;
  events::SiteCounts& c = record.counts;
  c.global.add(cost);
  c.requests += sums.warps;
  c.lanes += sums.lanes;
  c.global_requests += sums.counts.requests;
  c.global_lanes += sums.lanes;
}

}  // namespace

namespace {

bool is_empty(const jit::SiteState& state) {
  return state.low == ~0ull && state.span == 0;
}

// Adds what the inline cache has counted.
void fold_bins(Worker& worker, std::uint32_t site, jit::SiteState& state) {
  if (!worker.launch->counters) return;
  worker.records[site].used = true;
  take_bins(state.histogram, [&](unsigned bin, std::uint64_t hits) { fold_bin(worker, site, state, bin, hits); });
  for (jit::MaskedCount& m : state.masked) fold_masked(worker, site, state, m);
}

}  // namespace

void fold_inline_cache(Worker& worker, std::uint32_t site, jit::SiteState& state) {
  if (is_empty(state)) return;
  fold_bins(worker, site, state);
  empty_inline_cache(state);
}

namespace {

// Adds what the fast paths of a site have counted.
void fold_site(Worker& worker, std::uint32_t site, jit::SiteState& state) {
  if (!is_empty(state)) fold_bins(worker, site, state);
  if (state.lanes.places == 0 || !worker.launch->counters) return;
  fold_lane_requests(worker, site, state.lanes);
  fold_steps(worker, site, state.lanes);
}

// The fast paths have counted nothing. Each later access calls the device.
void close_windows(jit::SiteState& state) {
  if (!is_empty(state)) empty_inline_cache(state);
  state.lanes.places = 0;
}

// Closes the fast paths of a site.
void close_site(Worker& worker, std::uint32_t site, jit::SiteState& state) {
  fold_site(worker, site, state);
  close_windows(state);
}

// Whether windows of the launch may hold for the next one, too.
bool keeps_windows(const Launch& launch) {
  return !launch.watch && !launch.shadow && !launch.stops && !launch.wants.accesses && !launch.stop;
}

bool same_bound(const Bound& a, const Bound& b) {
  return a.low == b.low && a.high == b.high;
}

bool same_bounds(const Launch& launch, const OpenWindows& windows, std::size_t site) {
  const SiteBounds &a = launch.bounds[site], &b = windows.bounds[site];
  return same_bound(a.memory, b.memory) && same_bound(a.shared, b.shared) && same_bound(a.local, b.local);
}

}  // namespace

// The first access of a site in a launch took a fifth of a microsecond in the device; Rodinia's nw has 180,000.
void begin_windows(Worker& worker) {
  const Launch& launch = *worker.launch;
  OpenWindows& windows = *worker.windows;
  const bool same = windows.kernel == launch.kernel->serial && windows.ranges == launch.ranges &&
                    windows.shared_size == launch.shared_size && windows.local_size == launch.local_size &&
                    windows.bounds.size() == launch.bounds.size() && keeps_windows(launch);
  bool moved = false;
  for (std::size_t s = 0; s < windows.sites; ++s) {
    const bool holds = same && (launch.bounds.empty() || same_bounds(launch, windows, s));
    if (!holds) close_windows(worker.sites[s]);
    moved |= !holds;
  }
  if (same && !moved) return;
  windows.kernel = launch.kernel->serial;
  windows.ranges = launch.ranges;
  windows.shared_size = launch.shared_size;
  windows.local_size = launch.local_size;
  windows.bounds = launch.bounds;
}

void forget_pieces(Worker& worker) {
  const auto sites = static_cast<std::uint32_t>(worker.launch->kernel->sites.size());
  for (std::uint32_t s = 0; s < sites; ++s) {
    if (!worker.records[s].piece_cached) continue;
    for (jit::SiteState* of : {worker.sites, worker.logged_sites}) fold_inline_cache(worker, s, of[s]);
    worker.records[s].piece_cached = false;
  }
}

void close_sites(Worker& worker) {
  for (std::uint32_t s = 0; s < worker.launch->kernel->sites.size(); ++s) {
    close_site(worker, s, worker.sites[s]);
    if (!worker.logs.empty()) close_site(worker, s, worker.logged_sites[s]);
    SiteRecord& record = worker.records[s];
    record.refills = record.lane_refills = 0;
  }
}

void collect(Worker& worker, events::LaunchCounts& counts) {
  const Launch& launch = *worker.launch;
  const events::KernelFacts& facts = launch.kernel->code->facts();
  WG_ASSERT(counts.sites.size() == facts.sites.size() && launch.kernel->sites.size() == facts.sites.size());
  const bool keep = keeps_windows(launch);
  worker.windows->sites = keep ? facts.sites.size() : 0;
  for (std::uint32_t s = 0; s < facts.sites.size(); ++s) {  // leaders also count for followers
    fold_site(worker, s, worker.sites[s]);
    if (!keep || worker.records[s].piece_cached) close_windows(worker.sites[s]);
    if (!worker.logs.empty()) close_site(worker, s, worker.logged_sites[s]);
  }
  for (std::uint32_t s = 0; s < facts.sites.size(); ++s) {
    SiteRecord& record = worker.records[s];
    record.range = {};
    record.piece_cached = false;
    record.refills = record.lane_refills = record.lane_steps = record.other_masks = 0;
    if (!record.used) continue;
    fold_lanes(launch, launch.kernel->sites[s], record);
    for (AffinePattern& p : record.affine) fold_affine(launch, launch.kernel->sites[s], record, p);
    fold_texels(record);
    counts.sites[s].add(record.counts);
    record.counts = {};
    record.used = false;
    record.next_affine = 0;
  }
  if (launch.counters) {
    const jit::CompiledKernel& code = *launch.kernel->code;
    WG_ASSERT(worker.scoreboard && counts.blocks.size() == facts.blocks.size() &&
              counts.guard_lanes.size() == facts.guards.size() && counts.branches.size() == facts.branches.size());
    const std::uint64_t* board = worker.scoreboard;
    for (std::size_t b = 0; b < counts.blocks.size(); ++b) {
      counts.blocks[b].warps += board[2 * b];
      counts.blocks[b].lanes += board[2 * b + 1];
    }
    for (std::uint32_t g = 0; g < counts.guard_lanes.size(); ++g) counts.guard_lanes[g] += board[code.guard_slot(g)];
    for (std::uint32_t b = 0; b < counts.branches.size(); ++b) {
      const std::uint64_t* slot = board + code.branch_slot(b);
      counts.branches[b].executed += slot[0] + slot[3];
      counts.branches[b].divergent += slot[1];
      counts.branches[b].taken_lanes += slot[2];
      counts.branches[b].taken += slot[3];
    }
    for (std::uint32_t e = 0; e < counts.edges.size(); ++e) {
      const std::uint64_t* slot = board + code.edge_slot(e);
      counts.edges[e].warps += slot[0];
      counts.edges[e].lanes += slot[1];
    }
    for (std::uint32_t p = 0; p < counts.slow_paths.size(); ++p) {
      const std::uint64_t* slot = board + code.slow_path_slot(p);
      counts.slow_paths[p].add({slot[0], slot[1], slot[2], slot[3], slot[4], slot[5], slot[6]});
    }
    std::memset(worker.scoreboard, 0, code.scoreboard_slots() * sizeof(std::uint64_t));
  }
  counts.warps_launched += worker.warps_ended;
  counts.threads_launched += worker.threads_ended;
}

}  // namespace warpgrind::device
