// Byte ranges that an event touches; adjacent ranges are mostly merged.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "events/events.h"

namespace warpgrind::checkers {

// Calls touch(address, bytes) for each range.
template <class Touch>
void each_stretch(const events::AffineAccess& a, Touch&& touch) {
  const LaneMask in_row = a.row == kWarpSize ? ~LaneMask{0} : (LaneMask{1} << a.row) - 1;
  for (unsigned lane0 = 0; lane0 < kWarpSize; lane0 += a.row) {
    const LaneMask lanes = a.mask >> lane0 & in_row;
    if (lanes == 0) continue;
    const std::uint64_t row = a.base + static_cast<std::uint64_t>(a.ky * std::int64_t{lane0 / a.row});
    const auto at = [&](unsigned l) { return row + static_cast<std::uint64_t>(a.kx * std::int64_t{l}); };
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    const auto count = static_cast<unsigned>(std::bit_width(lanes >> first));
    const bool no_gap = (lanes >> first & ((lanes >> first) + 1)) == 0;
    if (a.kx == 0) {
      touch(row, std::uint64_t{a.bytes});
    } else if (a.kx == std::int64_t{a.bytes} && no_gap) {
      touch(at(first), std::uint64_t{count} * a.bytes);
    } else {
      for (LaneMask m = lanes; m != 0; m &= m - 1)
        touch(at(static_cast<unsigned>(std::countr_zero(m))), std::uint64_t{a.bytes});
    }
  }
}

template <class Touch>
void each_stretch(const events::Access& a, Touch&& touch) {
  std::uint64_t begin = 0, end = 0;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t at = a.addresses[l], bytes = a.bytes_of(l);
    if (begin != end && at >= begin && at <= end) {
      end = std::max(end, at + bytes);
      continue;
    }
    if (begin != end) touch(begin, end - begin);
    begin = at;
    end = at + bytes;
  }
  if (begin != end) touch(begin, end - begin);
}

// Calls touch(address, bytes, writes) for each row. Skips pageable host memory (unknown to CUDA), arrays, and a source
// that was already read when the copy was issued.
template <class Touch>
void each_stretch(const events::HostCopy& c, Touch&& touch) {
  const auto rows = [&](const events::CopySide& side, bool writes) {
    if (side.memory == events::CopyMemory::pageable || side.memory == events::CopyMemory::array) return;
    for (std::uint64_t s = 0; s < c.slices; ++s)
      for (std::uint64_t r = 0; r < c.rows; ++r) touch(side.address + s * side.slice + r * side.pitch, c.bytes, writes);
  };
  if (!c.staged) rows(c.from, false);
  rows(c.to, true);
}
template <class Touch>
void each_stretch(const events::HostFill& f, Touch&& touch) {
  for (std::uint64_t s = 0; s < f.slices; ++s)
    for (std::uint64_t r = 0; r < f.rows; ++r) touch(f.to + s * f.slice + r * f.pitch, f.bytes, true);
}

}  // namespace warpgrind::checkers
