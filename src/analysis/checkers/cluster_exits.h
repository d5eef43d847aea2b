// Accesses to the shared memory of another block of the cluster, after that block has ended.
#pragma once

#include <bit>
#include <cstdint>

#include "events/blocks.h"
#include "events/events.h"

namespace warpgrind::checkers {

using events::ranks_apart;

// Is the first lane's address in the shared memory of a block of the cluster that has ended?
inline bool is_of_ended_block(const events::InvalidAccess& e) {
  if (e.space != StateSpace::shared || e.problem != events::InvalidAccess::Problem::outside) return false;
  const std::uint64_t offset = e.addresses[static_cast<unsigned>(std::countr_zero(e.mask))];
  const std::int64_t apart = ranks_apart(offset);
  const std::int64_t own = events::rank_in_cluster(*e.launch, e.block);
  const std::uint64_t inside = offset - (static_cast<std::uint64_t>(apart) << kClusterShift);
  // The object is the other block's memory, or the variable of this block from whose address that of the other was
  // made.
  const auto in_object = [&](std::uint64_t at) { return at >= e.low && at < e.high; };
  return apart != 0 && own + apart >= 0 && own + apart < static_cast<std::int64_t>(e.launch->cluster.count()) &&
         (in_object(offset) || in_object(inside));
}

}  // namespace warpgrind::checkers
