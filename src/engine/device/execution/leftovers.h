// What earlier kernels left in the local memory, shared memory and registers of a worker's warps and blocks.
#pragma once

#include "device/state.h"

namespace warpgrind::device {

// Zeroes it. Called before each run of a launch that may run again: a kernel that reads what it has not written then
// reads the same each time.
void forget_leftovers(Worker& worker, const Launch& launch);

}  // namespace warpgrind::device
