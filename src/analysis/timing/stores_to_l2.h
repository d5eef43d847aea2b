// Stores to global memory as they reach L2. On their way, stores that directly follow each other and write different
// words of the same small structures fill their sectors together, unless other warps' stores come between. On an H200,
// structures of 2 and 3 words are written as fast as arrays, and those of 8 words each word alone
// (lab/results/h200/uneven.csv, write_structures).
#pragma once

#include <cstdint>
#include <vector>

#include "events/cache_counts.h"
#include "events/scoreboard.h"
#include "events/site.h"
#include "sass/code.h"

namespace warpgrind::timing {

struct StoresToL2 {
  AccessCost cost;
  std::uint64_t requests = 0;
};

// caches: null: not modelled. warps: on an SM.
std::vector<StoresToL2> stores_to_l2(const sass::Code& code, const events::KernelFacts& facts,
                                     const events::LaunchCounts& counts, const events::CacheCounts* caches,
                                     double warps);

}  // namespace warpgrind::timing
