// What the processes of a box use together, read from outside.
#pragma once

#include <cstdint>
#include <set>

namespace warpgrind::sandbox {

struct Usage {
  double cpu_seconds = 0;    // also of processes that have ended
  std::uint64_t memory = 0;  // resident, page tables, and files in memory that a process has open
  int processes = 0;         // and threads
  std::uint64_t disk = 0;
  std::uint64_t files = 0;
};

// `processes`: the box's /proc. `disk`: its /tmp.
Usage usage_of(int processes, int disk);

// What the machine has left has become so little that it is in danger. Memory can be hidden from usage_of(): pages of a
// shared mapping that no process has touched lately belong to nobody.
bool machine_is_short_of_memory();

}  // namespace warpgrind::sandbox
