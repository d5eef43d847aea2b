// Cost of many requests of one form: the sum of access_cost() over them, in a tenth of the time.
#pragma once

#include "gpu/access_rules.h"
#include "gpu/request_counting.h"

namespace warpgrind {

// Cost of the first `count` requests (at most kKeptRequests), whose offsets are all below `limit`. `skew`: distance of
// offset 0 from the multiple of 256 before it. `begins`, a power of two: each access starts at its offset rounded down
// to a multiple of `begins`, where the merged access starts that it is part of; 1: not merged. Every request must have
// an active lane. Every access must be aligned to its size.
AccessCost requests_cost(const AccessRules& rules, const AccessForm& form, const KeptRequests& requests, unsigned count,
                         std::uint64_t limit, std::uint32_t skew, unsigned begins, const RequestCounting& counting);

}  // namespace warpgrind
