// Resources that all processes of a box use together, read from outside.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "sandbox/cpu_meter.h"

namespace warpgrind::sandbox {

struct Usage {
  std::vector<ProcessTime> times;  // of the processes that are there
  std::uint64_t memory = 0;        // resident, page tables, and memory files that a process has open
  int processes = 0;               // including threads
  std::uint64_t disk = 0;
  std::uint64_t files = 0;
};

// `processes`: the box's /proc. `disk`: its /tmp.
Usage usage_of(int processes, int disk);

// Whether the machine has so little memory left that it is in danger. usage_of() cannot see all memory: pages of a
// shared mapping that no process has touched lately are counted for no process.
bool machine_is_short_of_memory();

}  // namespace warpgrind::sandbox
