// Lines, sectors and bank passes of logged requests.
#include "counters/request_lines.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace warpgrind::counters {

void RequestLines::add(std::uint64_t address, std::uint32_t bytes) {
  WG_DEBUG_ASSERT(bytes > 0);
  const std::uint64_t of = address >> 7, first = address >> 5 & 3;
  const std::uint64_t last = std::min<std::uint64_t>(3, first + ((address & 31) + bytes - 1) / 32);
  const auto mask = static_cast<std::uint8_t>(((2u << last) - 1) & ~((1u << first) - 1));
  for (unsigned i = count; i-- != 0;)
    if (line[i] == of) {
      sectors[i] |= mask;
      return;
    }
  WG_ASSERT(count < kMost);
  line[count] = of;
  sectors[count++] = mask;
}

void RequestLines::add_range(std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    const std::uint64_t stop = std::min(end, (begin | 127) + 1);
    add(begin, static_cast<std::uint32_t>(stop - begin));
    begin = stop;
  }
}

unsigned RequestLines::sector_count() const {
  unsigned n = 0;
  for (unsigned i = 0; i < count; ++i) n += static_cast<unsigned>(std::popcount(sectors[i]));
  return n;
}

unsigned lane_addresses(const events::AccessLog& log, const events::BlockLog& block, const events::LoggedAccess& e,
                        std::uint64_t addresses[kWarpSize], std::uint8_t lanes[kWarpSize]) {
  WG_DEBUG_ASSERT(std::has_single_bit(log.row));
  const unsigned in_row = log.row - 1, of_row = static_cast<unsigned>(std::countr_zero(log.row));
  unsigned n = 0;
  for (LaneMask m = e.mask; m != 0; m &= m - 1, ++n) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    lanes[n] = static_cast<std::uint8_t>(lane);
    addresses[n] = e.lanes ? e.base + block.offsets[static_cast<std::size_t>(e.kx) + n]
                           : e.base + static_cast<std::uint64_t>(e.kx) * (lane & in_row) +
                                 static_cast<std::uint64_t>(e.ky) * (lane >> of_row);
  }
  return n;
}

namespace {

void find_local(const std::uint64_t* offsets, const std::uint8_t* lanes, unsigned n, std::uint32_t bytes,
                std::uint64_t base, RequestLines* out) {
  for (unsigned i = 0; i < n; ++i)
    for (std::uint32_t b = 0; b < bytes; b += 4)
      out->add(base + ((offsets[i] + b) / 4 * kWarpSize + lanes[i]) * 4, std::min(4u, bytes));
}

}  // namespace

void find_lines(const events::AccessLog& log, const events::BlockLog& block, const events::LoggedAccess& e,
                std::uint32_t bytes, std::uint64_t local_base, RequestLines* out) {
  out->count = 0;
  const auto stride = static_cast<std::int64_t>(bytes);
  const bool local = e.space == StateSpace::local;
  if (!local && !e.lanes && e.kx == 0 && e.ky == 0) return out->add(e.base, bytes);
  if (!local && !e.lanes && e.mask == kFullMask && e.kx == stride &&
      (log.row == kWarpSize || e.ky == stride * static_cast<std::int64_t>(log.row))) {
    const std::uint64_t end = e.base + std::uint64_t{bytes} * kWarpSize;
    for (std::uint64_t at = e.base; at < end;) {
      const std::uint64_t stop = std::min(end, (at | 127) + 1);
      WG_DEBUG_ASSERT(out->count < RequestLines::kMost);
      out->line[out->count] = at >> 7;
      out->sectors[out->count++] =
          static_cast<std::uint8_t>(((2u << ((stop - 1) >> 5 & 3)) - 1) & ~((1u << (at >> 5 & 3)) - 1));
      at = stop;
    }
    return;
  }
  if (!local && each_run(log, e, bytes, [&](std::uint64_t begin, std::uint64_t end) { out->add_range(begin, end); }))
    return;
  std::uint64_t addresses[kWarpSize];
  std::uint8_t lanes[kWarpSize];
  const unsigned n = lane_addresses(log, block, e, addresses, lanes);
  if (local) return find_local(addresses, lanes, n, bytes, local_base, out);
  for (unsigned i = 0; i < n;) {
    const std::uint64_t begin = addresses[i++];
    std::uint64_t end = begin + bytes;
    if (begin % bytes != 0 || !std::has_single_bit(bytes)) {
      out->add(begin, bytes);
      continue;
    }
    for (; i < n && addresses[i] == end; ++i) end += bytes;  // lanes side by side
    out->add_range(begin, end);
  }
}

namespace {

// Lanes that the banks serve together, of accesses with this many bytes a lane.
std::uint32_t lanes_together(std::uint32_t bytes) {
  return std::clamp(128 / std::max(4u, bytes), 4u, 32u);
}

}  // namespace

unsigned passes_of_one_place(const events::LoggedAccess& e) {
  if (std::has_single_bit(e.mask)) return 1;
  if (e.lanes || e.kx != 0 || e.ky != 0) return 0;
  const std::uint32_t group = lanes_together(e.bytes);
  unsigned passes = 0;
  for (unsigned first = 0; first < kWarpSize; first += group)
    passes += (std::uint64_t{e.mask} >> first & ((std::uint64_t{1} << group) - 1)) != 0 ? 1 : 0;
  return passes;
}

unsigned bank_passes(const events::AccessLog& log, const events::BlockLog& block, const events::LoggedAccess& e,
                     std::uint32_t bytes) {
  const auto stride = static_cast<std::int64_t>(bytes);
  if (!e.lanes && e.mask == kFullMask && log.row == kWarpSize && (e.kx == 0 || e.kx == stride))
    return std::max(1u, bytes / 4);
  std::uint64_t addresses[kWarpSize];
  std::uint8_t lanes[kWarpSize];
  const unsigned n = lane_addresses(log, block, e, addresses, lanes);
  const std::uint32_t width = std::max(4u, bytes), group = lanes_together(bytes);
  unsigned passes = 0;
  for (unsigned i = 0; i < n;) {
    std::uint64_t words[64];
    unsigned count = 0;
    const unsigned of = lanes[i] / group;
    for (; i < n && lanes[i] / group == of; ++i)
      for (std::uint32_t b = 0; b < width && count < 64; b += 4) words[count++] = (addresses[i] + b) / 4;
    if (!std::is_sorted(words, words + count)) std::sort(words, words + count);
    count = static_cast<unsigned>(std::unique(words, words + count) - words);
    unsigned banks[32] = {}, most = 0, lines = 0;
    for (unsigned w = 0; w < count; ++w) {
      most = std::max(most, ++banks[words[w] % 32]);
      lines += w == 0 || words[w] / 32 != words[w - 1] / 32 ? 1 : 0;
    }
    passes += std::max(most, (lines + 3) / 4);
  }
  return passes;
}

}  // namespace warpgrind::counters
