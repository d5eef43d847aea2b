// Conversion of a launch's counts into the counters of the table, per kernel and per instruction site.
#pragma once

#include <cstdint>
#include <optional>

#include "counters/metric_table.h"
#include "events/scoreboard.h"
#include "events/site.h"
#include "gpu/gpu_model.h"
#include "gpu/occupancy.h"
#include "gpu/types.h"
#include "sass/code.h"
#include "sass/registers.h"
#include "sass/spills.h"

namespace warpgrind::counters {

// Usual error of an estimated register count.
inline constexpr std::uint32_t kRegisterError = sass::kRegisterError;

struct LaunchShape {
  const GpuModel* model = nullptr;
  Dim3 grid, block;
  std::uint64_t static_shared = 0, dynamic_shared = 0;  // bytes per block
  std::uint64_t local_bytes = 0;                        // per thread
  std::uint32_t registers = 0;                          // per thread
  bool registers_from_binary = false;                   // else the JIT's estimate
  int carveout_percent = -1;                            // cudaFuncAttributePreferredSharedMemoryCarveout
  const sass::Code* code = nullptr;                     // predicted output of ptxas; null: use the counters of PTX
  const sass::Spills* spills = nullptr;                 // spilled registers of `code`; null: none
  std::optional<Occupancy> occupancy{};                 // cached result of occupancy_of()
};

Occupancy occupancy_of(const LaunchShape& shape);

// All values of one launch. derive() computes the derived ones; call it again after adding launches.
Values launch_values(const LaunchShape& shape, const events::KernelFacts& facts, const events::LaunchCounts& counts);
void derive(Values& values);

// Values of one instruction site that ran at least once, and of one conditional branch. The counts may be sums over
// several launches.
Values site_values(const events::Site& site, const events::SiteCounts& counts);
Values branch_values(const events::BranchCounts& counts);

}  // namespace warpgrind::counters
