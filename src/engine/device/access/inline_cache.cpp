// Fast path before `pass()`: checks and counts affine accesses (base + kx*X + ky*Y) by a few comparisons. Refills the
// JIT's inline cache (SiteState in jit/abi.h) so that similar ones stay in machine code.
#include "device/access/inline_cache.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/assert.h"
#include "device/access/access_log.h"
#include "device/access/count.h"
#include "device/access/watchpoints.h"
#include "device/device_impl.h"
#include "device/memory/shadow_memory.h"

namespace warpgrind::device {

namespace {

// Memory that a site's affine access may use: [low, high) in addresses of its space, and its host address.
struct Window {
  std::uint64_t low = 0, high = 0, origin = 0;
  StateSpace space = StateSpace::global;
  bool cacheable = true;  // the site has an inline fast path
  bool of_heap = false;   // a piece of the device heap
};

// Distances within bounds are below 2^58, so that sums of them do not overflow.
constexpr std::int64_t kLimit = std::int64_t{1} << 50;
bool moderate(const AffineAddresses& a) {
  return a.kx <= kLimit && a.kx >= -kLimit && a.ky <= kLimit && a.ky >= -kLimit &&
         a.base <= static_cast<std::uint64_t>(kLimit);
}

// Window in the device heap. Generic sites reach this every time; their lanes' extent is checked without a lock.
bool piece_window(const Access& s, const AffineAddresses& a, unsigned row, Window* w) {
  constexpr std::uint64_t kShort = 4096;
  const DeviceHeap& heap = launch_of(*s.context).device->impl().heap;
  const std::uint64_t low = a.base + static_cast<std::uint64_t>(a.least(row));
  const std::uint64_t high = a.base + static_cast<std::uint64_t>(a.most(row)) + s.bytes();
  if (!w->cacheable && high - low <= kShort && heap.holds(low, high - low)) {
    w->low = low;
    w->high = high;
    return true;
  }
  const auto piece = heap.piece_at(a.base);
  if (!piece) return false;
  std::tie(w->low, w->high) = *piece;
  w->of_heap = true;
  return true;
}

void cut(Window* w, const Bound& bound) {
  w->low = std::max(w->low, bound.low);
  w->high = std::max(w->low, std::min(w->high, bound.high));
  WG_DEBUG_ASSERT(w->low <= w->high);
}

// Finds the window; returns false if the access needs the normal path.
bool window_without_watch(const Access& s, const AffineAddresses& a, unsigned row, Window* w) {
  jit::WarpContext& c = *s.context;
  switch (s.form.space) {
    case StateSpace::shared:
      *w = {0, c.shared_size, reinterpret_cast<std::uint64_t>(c.shared), StateSpace::shared, true};
      cut(w, bound_of(launch_of(c), s.site, StateSpace::shared));
      return true;
    case StateSpace::local:
      *w = {0, c.local_size, 0, StateSpace::local, true};
      cut(w, bound_of(launch_of(c), s.site, StateSpace::local));
      return true;
    case StateSpace::global:
    case StateSpace::constant:
      break;
    case StateSpace::param:
      return false;
    default:
      if (a.base >= kSharedWindow) return false;
      w->cacheable = false;
  }
  Worker& worker = worker_of(c);
  Range& range = worker.records[s.site].range;
  if (!range.holds(a.base, a.base) && !find_bounded(*worker.launch, s.site, a.base, &range)) {
    // The base may lie outside if its lane is inactive or a step is negative.
    range = {};
    return false;
  }
  if (s.form.space == StateSpace::constant) w->space = StateSpace::constant;
  if (s.writes() && range.constant) return false;
  // Memory without a shadow (the program's own) has no undefined bits, but machine code would look for a shadow.
  if (worker.launch->shadow && !worker.launch->shadow->covers(range.low, range.high - range.low)) return false;
  w->low = range.low;
  w->high = range.high;
  return !range.kernel_heap || piece_window(s, a, row, w);
}

bool window_of(const Access& s, const AffineAddresses& a, unsigned row, Window* w) {
  if (!window_without_watch(s, a, row, w)) return false;
  const Watchpoints* watch = launch_of(*s.context).watch;
  if (!watch) [[likely]]
    return true;
  const std::uint64_t first = a.base + static_cast<std::uint64_t>(a.least(row));
  const std::uint64_t end = a.base + static_cast<std::uint64_t>(a.most(row)) + s.bytes();
  return watch->cut(w->space, first, end, &w->low, &w->high);
}

bool covers(const jit::SiteState& state, unsigned bytes, const AffineAddresses& a) {
  return std::rotr(a.base - state.low, std::countr_zero(bytes)) <= state.span && state.key_x == a.kx &&
         state.key_y == a.ky;
}
bool covers(const jit::SiteState& state, const Access& s, const AffineAddresses& a) {
  return covers(state, s.bytes(), a);
}

// Refills the inline cache after an access that is valid for all 32 lanes, active or not. Sites that change all the
// time mostly keep their old cache (returns false): folding costs more than an access through the device.
bool refill(Worker& worker, const Access& s, const AffineAddresses& a, const Window& w, unsigned row) {
  SiteRecord& record = worker.records[s.site];
  const SiteFacts& facts = worker.launch->kernel->sites[s.site];
  const std::uint64_t within = s.bytes() - 1;
  const std::uint64_t low =
      (w.low - static_cast<std::uint64_t>(a.least(row) + facts.least_distance) + within) & ~within;
  const std::uint64_t high =
      (w.high - s.bytes() - static_cast<std::uint64_t>(a.most(row) + facts.most_distance)) & ~within;
  if (static_cast<std::int64_t>(high) < static_cast<std::int64_t>(low)) return false;  // its followers are outside
  constexpr std::uint32_t kEager = 16, kLater = 64;
  const std::uint32_t n = record.refills++;
  if (n >= kEager && n % kLater != 0) return false;
  jit::SiteState& state = s.context->sites[s.site];
  fold_inline_cache(worker, s.site, state);
  record.piece_cached = w.of_heap;
  state.low = low;
  state.span = (high - low) >> std::countr_zero(s.bytes());
  state.key_x = a.kx;
  state.key_y = a.ky;
  // A launch of one thread a block has no other lane, whatever the steps are.
  const bool one_lane = worker.launch->threads_per_block == 1;
  if (is_same_everywhere(worker.launch->rules, one_lane ? 0 : a.kx, one_lane ? 0 : a.ky)) state.place_bits = 0;
  return true;
}

void refill_and_count(Worker& worker, const Access& s, const AffineAddresses& a, const Window& w, unsigned row) {
  if (!refill(worker, s, a, w, row)) return count_affine(s, a.base, a.kx, a.ky);
  if (!worker.launch->counters) return;
  jit::SiteState& state = s.context->sites[s.site];
  if (!worker.launch->kernel->sites[s.site].followers.empty())  // the histogram would count the followers too
    count_affine(s, a.base, a.kx, a.ky);
  else if (s.mask == kFullMask && w.space != StateSpace::local)
    ++state.histogram[a.base & 255];
  else
    count_masked(s, a.base, a.kx, a.ky);
}

}  // namespace

void expand(const AffineAddresses& a, jit::LaneShape shape, std::uint64_t* addresses) {
  const unsigned row = jit::row_length(shape);
  std::uint64_t start = a.base;
  for (unsigned first = 0; first < kWarpSize; first += row) {
    for (unsigned l = 0; l < row; ++l) addresses[first + l] = start + static_cast<std::uint64_t>(a.kx) * l;
    start += static_cast<std::uint64_t>(a.ky);
  }
}

bool is_cached(const jit::WarpContext& context, std::uint32_t site, const AffineAddresses& a) {
  const unsigned bytes = launch_of(const_cast<jit::WarpContext&>(context)).kernel->sites[site].form.bytes;
  return covers(context.sites[site], bytes, a);
}

// Machine code may still use the site states that the warp had while its requests were logged.
void count_checked(const Access& s, const AffineAddresses& a) {
  if (covers(s.context->sites[s.site], s, a))
    count_masked(s, a.base, a.kx, a.ky);
  else
    count_affine(s, a.base, a.kx, a.ky);
}

std::optional<AffinePlace> pass_affine(Access& s, const AffineAddresses& a) {
  Worker& worker = worker_of(*s.context);
  const Launch& launch = *worker.launch;
  const unsigned row = jit::row_length(launch.kernel->shape);
  // Watched accesses are first counted and published lane by lane. Afterwards machine code performs them and calls
  // watch() each time.
  const bool watched = is_watched(launch, s.site);
  if (watched && (!launch.shows_affine || covers(s.context->sites[s.site], s, a))) return std::nullopt;
  Window w;
  if (!moderate(a) || !window_of(s, a, row, &w)) return std::nullopt;
  if (a.bits(row) & (s.bytes() - 1)) return std::nullopt;
  if (w.space == StateSpace::local && (a.kx != 0 || a.ky != 0)) return std::nullopt;
  const auto base = static_cast<std::int64_t>(a.base);
  if (base + a.least(row) < static_cast<std::int64_t>(w.low) ||
      base + a.most(row) + static_cast<std::int64_t>(s.bytes()) > static_cast<std::int64_t>(w.high))
    return std::nullopt;
  if (watched) {
    if (w.cacheable && !w.of_heap) refill(worker, s, a, w, row);
    return std::nullopt;
  }
  s.form.space = w.space;
  if (is_logging(*s.context) && is_logged(w.space)) [[unlikely]] {
    count_affine(s, a.base, a.kx, a.ky);
    if (w.cacheable && is_logged_by_calls(launch, w.space) && !covers(s.context->sites[s.site], s, a))
      refill(worker, s, a, w, row);
    log_affine(s, a);
  } else if (w.cacheable && !covers(s.context->sites[s.site], s, a))
    refill_and_count(worker, s, a, w, row);
  else if (w.cacheable)
    count_masked(s, a.base, a.kx, a.ky);
  else
    count_affine(s, a.base, a.kx, a.ky);
  return AffinePlace{w.space, w.origin + a.base};
}

}  // namespace warpgrind::device
