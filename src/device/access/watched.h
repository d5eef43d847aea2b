// Which sites of a launch may touch memory that the launch writes: by where their addresses come from
// (events::Site::origins) and the launch's arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "device/execution/state.h"

namespace warpgrind::device {

// By site: 1 for all of shared memory, for strong accesses, for whatever may write global memory, and for whatever may
// read what those may write. What an address may come from anywhere is all of memory. host_memory: also for reads of
// memory that the host can use.
std::vector<std::uint8_t> sites_to_watch(const Launch& launch, bool host_memory);

}  // namespace warpgrind::device
