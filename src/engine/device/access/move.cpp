// Last step of an access: moves its bytes between the lanes' values and the host memory of the space.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/sanitizers.h"
#include "device/access/access.h"
#include "device/access/access_log.h"
#include "device/access/count.h"
#include "device/access/lane_requests.h"

namespace warpgrind::device {

namespace {

// Local memory: word w of lane l at (w*32 + l)*4.
std::uint8_t* local_byte(const jit::WarpContext& c, unsigned lane, std::uint64_t offset) {
  return c.local + (offset / 4 * kWarpSize + lane) * 4 + offset % 4;
}

constexpr std::size_t kNextWord = std::size_t{4} * kWarpSize;  // next word of the same lane

// An element of 8 or 16 bytes is 2 or 4 words.
template <unsigned N, bool kStore>
void move_local_words(const Access& a, std::uint8_t* values) {
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    for (unsigned e = 0; e < a.vector; ++e) {
      std::uint8_t* inside = local_byte(*a.context, lane, a.addresses[lane] + std::uint64_t{e} * N);
      std::uint8_t* outside = values + (std::size_t{e} * kWarpSize + lane) * N;
      for (unsigned byte = 0; byte < N; byte += 4, inside += kNextWord)
        std::memcpy(kStore ? inside : outside + byte, kStore ? outside + byte : inside, 4);
    }
  }
}

// Smaller elements lie inside a word: moved like an access to contiguous memory at other addresses.
void move_local_parts(const Access& a, std::uint8_t* values) {
  const auto origin = reinterpret_cast<std::uint64_t>(a.context->local);
  alignas(64) std::uint64_t places[kWarpSize];
  for (unsigned e = 0; e < a.vector; ++e) {
    const std::uint64_t skip = std::uint64_t{e} * a.element;
    for (unsigned l = 0; l < kWarpSize; ++l) {
      const std::uint64_t offset = a.addresses[l] + skip;
      places[l] = (offset & ~std::uint64_t{3}) * kWarpSize + std::uint64_t{l} * 4 + (offset & 3);
    }
    std::uint8_t* of_element = values + std::size_t{e} * kWarpSize * a.element;
    if (a.writes())
      scatter(of_element, origin, places, a.mask, a.element, 1);
    else
      gather(of_element, origin, places, a.mask, a.element, 1);
  }
}

void move_contiguous(const Access& a, std::uint64_t origin, void* values) {
  WG_DEBUG_ASSERT(a.mask != 0 && a.vector == 1);
  const auto first = static_cast<unsigned>(std::countr_zero(a.mask));
  auto* memory = reinterpret_cast<std::uint8_t*>(origin + a.addresses[first]) - std::size_t{first} * a.element;
  return a.writes() ? copy_lanes(memory, values, a.mask, a.element) : copy_lanes(values, memory, a.mask, a.element);
}

}  // namespace

void move_local(const Access& a, void* values) {
  auto* bytes = static_cast<std::uint8_t*>(values);
  if (a.element <= 4) return move_local_parts(a, bytes);
  WG_DEBUG_ASSERT(a.element == 8 || a.element == 16);
  if (a.element == 8) return a.writes() ? move_local_words<8, true>(a, bytes) : move_local_words<8, false>(a, bytes);
  return a.writes() ? move_local_words<16, true>(a, bytes) : move_local_words<16, false>(a, bytes);
}

void move(const Access& a, const Place& place, void* values) {
  if (a.form.space == StateSpace::local) return move_local(a, values);
  if (a.writes())
    scatter(values, place.origin_, a.addresses, a.mask, a.element, a.vector);
  else
    gather(values, place.origin_, a.addresses, a.mask, a.element, a.vector);
}

void move_stretch(const Access& a, const Place& place, unsigned lane, std::uint8_t* outside, std::uint64_t bytes) {
  const NotWatched guard;
  if (a.form.space != StateSpace::local) {
    std::memcpy(a.writes() ? place.of(lane) : outside, a.writes() ? outside : place.of(lane), bytes);
    return;
  }
  for (std::uint64_t offset = a.addresses[lane]; bytes > 0;) {
    const std::uint64_t step = std::min<std::uint64_t>(bytes, 4 - offset % 4);
    std::uint8_t* inside = local_byte(*a.context, lane, offset);
    std::memcpy(a.writes() ? inside : outside, a.writes() ? outside : inside, step);
    offset += step;
    outside += step;
    bytes -= step;
  }
}

// The lanes repeat their last pattern at another address: one comparison replaces checks and counting.
bool move_repeated(const Access& a, void* values) {
  const Worker& worker = worker_of(*a.context);
  if (a.form.space == StateSpace::local || is_watched(*worker.launch, a.site) || worker.launch->watch) return false;
  SiteRecord& record = worker.records[a.site];
  LanePattern& p = record.lanes;
  if (p.hits == 0 || p.mask != a.mask || p.space != a.form.space) return false;
  const std::uint64_t first = a.addresses[std::countr_zero(a.mask)] & ~std::uint64_t{255};
  const std::uint64_t low = first + static_cast<std::uint64_t>(p.low);
  const std::uint64_t high = first + static_cast<std::uint64_t>(p.high) + a.bytes() - 1;
  // The sums may wrap on either side of the first lane's address; then low > high.
  if (low > high) return false;
  if (a.form.space == StateSpace::shared) {
    const Bound& bound = bound_of(*worker.launch, a.site, StateSpace::shared);
    if (low < bound.low || high >= bound.high) return false;
  }
  if (a.form.space == StateSpace::shared ? high >= a.context->shared_size
                                         : !record.range.holds(low, high) || (a.writes() && record.range.constant) ||
                                               (record.range.kernel_heap && !in_pieces(a)))
    return false;
  if (!same_offsets(p.offsets, a.addresses, first, a.mask)) return false;
  constexpr std::uint64_t kOften = 32;  // machine code is faster, if it can serve the site
  if (++p.hits % kOften == 0) open_window(a);
  if (is_logging(*a.context)) [[unlikely]]
    log_lanes(a);
  const std::uint64_t origin =
      a.form.space == StateSpace::shared ? reinterpret_cast<std::uint64_t>(a.context->shared) : 0;
  if (p.contiguous)
    move_contiguous(a, origin, values);
  else if (a.writes())
    scatter(values, origin, a.addresses, a.mask, a.element, a.vector);
  else
    gather(values, origin, a.addresses, a.mask, a.element, a.vector);
  return true;
}

}  // namespace warpgrind::device
