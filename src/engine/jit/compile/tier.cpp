#include "jit/compile/tier.h"

namespace warpgrind::jit {

namespace {

// CPU time measured on an AMD EPYC with AVX-512 (docs/compile-times.md). Full tier: 0.1 ms a PHI at this number of
// PHIs, and more with more PHIs (1.4 ms at 81,000). Lean tier: 0.6 ms a PHI and 0.04 ms an instruction, more from some
// 30,000 instructions on (CUB's select at 52,000: 6 s). Quick tier: 0.015 ms an instruction.
constexpr std::uint64_t kFullPhis = 4000, kFullInstructions = 12'000;
constexpr std::uint64_t kLeanPhis = 300, kLeanInstructions = 32'000;

}  // namespace

const char* tier_name(Tier tier) {
  switch (tier) {
    case Tier::full:
      return "full";
    case Tier::lean:
      return "lean";
    case Tier::quick:
      return "quick";
  }
  return "?";
}

std::uint64_t phis_that_matter() {
  return kFullPhis;
}

Tier choose_tier(const CodeSize& size) {
  if (size.instructions <= kFullInstructions && size.phis <= kFullPhis) return Tier::full;
  return size.instructions <= kLeanInstructions ? Tier::lean : Tier::quick;
}

// Fitted to 95 kernels of the lab on an Intel Xeon with AVX-512 (`warpgrind compile-times --tier full`): 0.05 to 0.1 ms
// an instruction, more with more PHIs. Quick tier: as above.
double better_code_seconds(const CodeSize& size) {
  constexpr double kInstruction = 50e-6, kPhi = 30e-6, kQuick = 15e-6;
  if (choose_tier(size) == Tier::quick) return kQuick * static_cast<double>(size.instructions);
  return kInstruction * static_cast<double>(size.instructions) + kPhi * static_cast<double>(size.phis);
}

std::uint64_t phi_budget(Tier tier) {
  switch (tier) {
    case Tier::full:
      return ~0ull;
    case Tier::lean:
      return kLeanPhis;
    case Tier::quick:
      return 0;
  }
  return 0;
}

}  // namespace warpgrind::jit
