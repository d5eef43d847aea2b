// Blocks of a launch in shares, one for each worker (block_share.h). Launches that need the ascending order of block
// starts keep one cursor for all workers (Launch::next_block).
#pragma once

#include "device/state.h"

namespace warpgrind::device {

// Whether the blocks of this launch may start in any order. Call once its observers are known.
bool may_have_shares(const Launch& launch);
// Gives each worker its first share, before the workers run.
void deal_shares(Launch& launch);
// The next blocks for this worker, at most Launch::chunk, from its own share or a stolen one. Empty: none are left.
BlockRange take_from_shares(Worker& worker);

}  // namespace warpgrind::device
