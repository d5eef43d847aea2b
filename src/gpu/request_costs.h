// What many requests of one form cost together: the same as the sum of access_cost() over them, in a tenth of the time.
#pragma once

#include "gpu/access_rules.h"
#include "gpu/request_counting.h"

namespace warpgrind {

// Of the first `count` (at most kKeptRequests), whose offsets are all below `limit`. `skew`: offset 0 lies so many
// bytes behind a multiple of 256. `begins`, a power of two: each lane's access begins at the last multiple of it (the
// joint access of which it is a part); 1: at its offset. Every request has a lane on, and every lane's access lies at a
// multiple of its size.
AccessCost requests_cost(const AccessRules& rules, const AccessForm& form, const KeptRequests& requests, unsigned count,
                         std::uint64_t limit, std::uint32_t skew, unsigned begins, const RequestCounting& counting);

}  // namespace warpgrind
