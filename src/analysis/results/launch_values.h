// Cache of the counters of single launches. Programs launch the same kernel with the same counts thousands of times, so
// the values of each kernel's last launch are kept and reused for equal ones.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "counters/kernel_counters.h"
#include "counters/machine_counters.h"
#include "events/kernels_gone.h"

namespace warpgrind::results {

// Not thread-safe.
class LaunchValues {
 public:
  struct Of {
    counters::Values values;                       // without times
    std::vector<counters::MachineAccess> machine;  // machine_accesses(), by site
  };
  // Valid until the next call.
  const Of& of(const counters::LaunchShape& shape, const events::KernelFacts& facts,
               const events::LaunchCounts& counts);

 private:
  struct Last {
    counters::LaunchShape shape;
    events::LaunchCounts counts;
    Of of;
  };
  std::unordered_map<const events::KernelFacts*, Last> last_;
  events::KernelsGone gone_;
};

}  // namespace warpgrind::results
