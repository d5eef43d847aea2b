// Execution of blocks by a worker.
#pragma once

#include "device/state.h"

namespace warpgrind::device {

void prepare_worker(Worker& worker, Launch& launch);  // sets its launch and grows its arrays
void run_worker(Worker& worker);                      // runs all blocks that it can get, on the calling thread

}  // namespace warpgrind::device
