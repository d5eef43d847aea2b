// Cache lines and sectors that one logged request looks up.
#pragma once

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
