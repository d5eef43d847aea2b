// Cache lines and sectors that one logged request looks up.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "events/access_log.h"
#include "events/site.h"

namespace warpgrind::counters {

struct RequestLines {
  static constexpr unsigned kMost = 256;  // lines: 32 lanes with 8 words of local memory each, no two in one line
  unsigned count = 0;
  std::uint64_t line[kMost];
  std::uint8_t sectors[kMost];  // of each line

  void add(std::uint64_t address, std::uint32_t bytes);  // the bytes lie in one line
  void add_range(std::uint64_t begin, std::uint64_t end);
  unsigned sector_count() const;
};

// local_base: address of the warp's local memory, which is interleaved word by word.
void find_lines(const events::AccessLog& log, const events::BlockLog& block, const events::LoggedAccess& access,
                std::uint32_t bytes, std::uint64_t local_base, RequestLines* out);
// Calls visit(begin, end) for the bytes of each run of active lanes side by side in a row. False, and no calls: the
// lanes are not side by side, or not aligned to their bytes.
template <class Visit>
bool each_run(const events::AccessLog& log, const events::LoggedAccess& e, std::uint32_t bytes, Visit&& visit) {
  if (e.lanes || e.kx != static_cast<std::int64_t>(bytes) || !std::has_single_bit(bytes)) return false;
  if (e.base % bytes != 0 || (log.row < kWarpSize && static_cast<std::uint64_t>(e.ky) % bytes != 0)) return false;
  for (std::uint64_t m = e.mask; m != 0;) {
    const auto first = static_cast<unsigned>(std::countr_zero(m));
    const unsigned row = first / log.row, place = first - row * log.row;
    const unsigned run = std::min(static_cast<unsigned>(std::countr_one(m >> first)), log.row - place);
    const std::uint64_t begin = e.base + std::uint64_t{bytes} * place + static_cast<std::uint64_t>(e.ky) * row;
    visit(begin, begin + std::uint64_t{bytes} * run);
    m &= ~(((std::uint64_t{1} << run) - 1) << first);
  }
  return true;
}
// Writes the addresses (local memory: offsets) and numbers of the active lanes. Returns their number.
unsigned lane_addresses(const events::AccessLog& log, const events::BlockLog& block, const events::LoggedAccess& access,
                        std::uint64_t addresses[kWarpSize], std::uint8_t lanes[kWarpSize]);
// Passes through the 32 banks of L1, counted like wavefronts of shared memory: by half warps with 8 bytes per lane, by
// quarter warps with 16. One pass covers at most four lines.
unsigned bank_passes(const events::AccessLog& log, const events::BlockLog& block, const events::LoggedAccess& access,
                     std::uint32_t bytes);
// The same for an access of one lane, or of lanes with one address. 0: it is neither.
unsigned passes_of_one_place(const events::LoggedAccess& access);

}  // namespace warpgrind::counters
