// From the counts of a launch to the values of the table: per kernel and per instruction site.
#pragma once

#include <cstdint>
#include <optional>

#include "counters/metric_table.h"
#include "events/scoreboard.h"
#include "events/site.h"
#include "gpu/gpu_model.h"
#include "gpu/occupancy.h"
#include "gpu/types.h"
#include "machine/code.h"

namespace warpgrind::counters {

struct LaunchShape {
  const GpuModel* model = nullptr;
  Dim3 grid, block;
  std::uint64_t static_shared = 0, dynamic_shared = 0;  // bytes a block
  std::uint64_t local_bytes = 0;                        // a thread
  std::uint32_t registers = 0;                          // a thread
  bool registers_from_binary = false;                   // else the JIT's estimate
  int carveout_percent = -1;                            // cudaFuncAttributePreferredSharedMemoryCarveout
  const machine::Code* code = nullptr;                  // what ptxas would make of it; null: counters as of PTX
  std::optional<Occupancy> occupancy{};                 // occupancy_of() it, where that was worked out before
};

Occupancy occupancy_of(const LaunchShape& shape);

// All sums and launch values of one launch; derive() fills in the rest.
Values launch_values(const LaunchShape& shape, const events::KernelFacts& facts, const events::LaunchCounts& counts);
void derive(Values& values);

// Of one instruction site that ran at least once, and of one conditional branch. Counts of several launches may have
// been added up before.
Values site_values(const events::Site& site, const events::SiteCounts& counts);
Values branch_values(const events::BranchCounts& counts);

}  // namespace warpgrind::counters
