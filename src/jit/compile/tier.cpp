#include "jit/compile/tier.h"

namespace warpgrind::jit {

namespace {

// Measured (docs/compile-times.md): a PHI of 32 lanes costs the full tier's passes and register allocation about a
// millisecond, an instruction about 0.1 ms in the full tier, 0.06 in the lean and 0.03 in the quick one.
constexpr std::uint64_t kFullPhis = 4000, kFullInstructions = 12'000;
constexpr std::uint64_t kLeanPhis = 1500, kLeanInstructions = 60'000;

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
