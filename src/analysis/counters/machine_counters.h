// Counters of the predicted machine code (src/engine/sass: what ptxas would generate). They are modelled and have
// Nsight Compute's names. The exact counters of PTX have names of our own (warpgrind__ptx_...).
#pragma once

#include <cstdint>
#include <vector>

#include "counters/kernel_counters.h"

namespace warpgrind::counters {

// Counters of the tensor cores, which only Hopper has (sass/tensor_products.h).
bool of_tensor_cores(MetricId id);
// `values` already has the counters of PTX. Without machine code they also serve as its counters.
void add_machine_values(Values& values, const LaunchShape& shape, const events::KernelFacts& facts,
                        const events::LaunchCounts& counts);

// What remains of a load or store after ptxas has merged accesses; all 0: it was merged into a neighbour.
struct MachineAccess {
  std::uint64_t instructions = 0;  // of warps
  std::uint64_t shared_requests = 0, shared_wavefronts = 0, shared_ideal = 0, shared_conflicts = 0;
  void add(const MachineAccess& other);
};
// By index into KernelFacts::sites. Empty: there is no machine code.
std::vector<MachineAccess> machine_accesses(const LaunchShape& shape, const events::KernelFacts& facts,
                                            const events::LaunchCounts& counts);

}  // namespace warpgrind::counters
