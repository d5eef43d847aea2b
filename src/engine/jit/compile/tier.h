// Compilation tiers: how much work the compiler spends on a kernel. The size of a kernel's unoptimised code alone
// decides its tier. A kernel that has not run for long yet gets shorter code of the quick tier instead
// (CompileOptions::quick_start). Results and counts are the same in every tier.
#pragma once

#include <cstdint>

namespace warpgrind::jit {

enum class Tier : std::uint8_t {
  full,   // every register a value, all passes
  lean,   // registers become values within a budget of PHIs, the others stay in memory; cheap passes
  quick,  // only registers of one basic block become values; code selected without optimisation
};
const char* tier_name(Tier tier);

// Size of the unoptimised LLVM IR of a kernel with all functions it calls.
struct CodeSize {
  std::uint64_t instructions = 0;
  std::uint64_t blocks = 0;
  std::uint64_t phis = 0;  // if every register became a value; 0 for quick code of a new kernel
};

// The tier does not depend on further PHIs beyond this number: counting may stop.
std::uint64_t phis_that_matter();

Tier choose_tier(const CodeSize& size);
// Estimated time to compile code of this size in its tier, in seconds of one CPU.
double better_code_seconds(const CodeSize& size);
std::uint64_t phi_budget(Tier tier);  // for the whole kernel

}  // namespace warpgrind::jit
