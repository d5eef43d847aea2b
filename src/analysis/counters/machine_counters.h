// The counters of the machine code that ptxas would make (src/engine/machine): modelled, under the names that Nsight
// Compute has for them. The exact ones of PTX have names of ours (warpgrind__ptx_...).
#pragma once

#include <cstdint>
#include <vector>

#include "counters/kernel_counters.h"

namespace warpgrind::counters {

// `values` has those of PTX already, which are also those of the machine code where there is none.
void add_machine_values(Values& values, const LaunchShape& shape, const events::KernelFacts& facts,
                        const events::LaunchCounts& counts);

// Warp instructions that are left of each load and store, by index into KernelFacts::sites: 0 for one merged into a
// neighbour. Empty: there is no machine code.
std::vector<std::uint64_t> machine_accesses(const LaunchShape& shape, const events::KernelFacts& facts,
                                            const events::LaunchCounts& counts);

}  // namespace warpgrind::counters
