// Access patterns and operands of wgmma as the profile holds them.
#pragma once

#include <cstdint>
#include <vector>

#include "observers/access_patterns.h"
#include "observers/operands.h"
#include "results/profile.h"

namespace warpgrind::observers {

// `sites`: of the kernel, for the ids of tensor copies.
results::AccessPattern pattern_of(results::Profile& profile, const PatternCount& p, AccessType type,
                                  std::uint32_t bytes, const AccessRules& rules,
                                  const std::vector<results::SiteProfile>& sites);
// Adds the operands, those of the lowest block first, to the site at `place`.
void put_operands(results::KernelProfile& kernel, const results::SiteProfile& place, std::vector<Operand> operands);

}  // namespace warpgrind::observers
