// How much work the compiler spends on a kernel. The tier of a kernel depends on the size of its unoptimised code
// alone. A kernel that has not run for long yet has quick code instead (CompileOptions::quick_start). Results and
// counts are the same in every tier.
#pragma once

#include <cstdint>

namespace warpgrind::jit {

enum class Tier : std::uint8_t {
  full,   // every register a value, all passes
  lean,   // as many registers as values as a budget of PHIs allows, the others in memory; cheap passes
  quick,  // registers of one basic block only; code selected without optimisation
};
const char* tier_name(Tier tier);

// The unoptimised LLVM IR of a kernel with all functions it calls.
struct CodeSize {
  std::uint64_t instructions = 0;
  std::uint64_t blocks = 0;
  std::uint64_t phis = 0;  // that a value for every register would need
};

// More PHIs than this decide nothing more: counting may stop.
std::uint64_t phis_that_matter();

Tier choose_tier(const CodeSize& size);
// About how long the full or the lean tier takes, in seconds of one CPU.
double better_code_seconds(const CodeSize& size);
std::uint64_t phi_budget(Tier tier);  // for the whole kernel

}  // namespace warpgrind::jit
