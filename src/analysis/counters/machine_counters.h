// Counters of the predicted machine code (src/engine/sass: what ptxas would generate). They are modelled and have
// Nsight Compute's names. The exact counters of PTX have names of our own (warpgrind__ptx_...).
#pragma once

#include <cstdint>
#include <vector>

#include "counters/kernel_counters.h"

namespace warpgrind::counters {

// `values` already has the counters of PTX. Without machine code they also serve as its counters.
void add_machine_values(Values& values, const LaunchShape& shape, const events::KernelFacts& facts,
                        const events::LaunchCounts& counts);

// Warp instructions that remain for each load and store, by index into KernelFacts::sites. 0: merged into a neighbour.
// Empty: there is no machine code.
std::vector<std::uint64_t> machine_accesses(const LaunchShape& shape, const events::KernelFacts& facts,
                                            const events::LaunchCounts& counts);

}  // namespace warpgrind::counters
