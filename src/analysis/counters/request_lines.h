// One request of a log, as the lines and sectors that it looks up.
#pragma once

#include <cstdint>

#include "events/access_log.h"
#include "events/site.h"

namespace warpgrind::counters {

struct RequestLines {
  static constexpr unsigned kMost = 64;  // 32 lanes of 8 bytes of local memory
  unsigned count = 0;
  std::uint64_t line[kMost];
  std::uint8_t sectors[kMost];  // of each line

  void add(std::uint64_t address, std::uint32_t bytes);  // in one line
  unsigned sector_count() const;
};

// local_base: where the local memory of its warp lies, interleaved word by word.
void find_lines(const events::AccessLog& log, const events::BlockLog& block, const events::LoggedAccess& access,
                std::uint32_t bytes, std::uint64_t local_base, RequestLines* out);
// Addresses of the lanes that are on (local memory: offsets); how many there are.
unsigned lane_addresses(const events::AccessLog& log, const events::BlockLog& block, const events::LoggedAccess& access,
                        std::uint64_t addresses[kWarpSize], std::uint8_t lanes[kWarpSize]);
// Passes through the 32 banks of L1, as wavefronts of shared memory: half warps of 8 bytes a lane, quarters of 16; and
// at most four lines at a time.
unsigned bank_passes(const events::AccessLog& log, const events::BlockLog& block, const events::LoggedAccess& access,
                     std::uint32_t bytes);

}  // namespace warpgrind::counters
