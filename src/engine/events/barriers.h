// Whether the warps of a kernel's blocks wait for each other.
#pragma once

#include <algorithm>

#include "events/site.h"

namespace warpgrind::events {

inline bool has_barriers(const KernelFacts& facts) {
  return std::any_of(facts.sites.begin(), facts.sites.end(),
                     [](const Site& s) { return s.kind == SiteKind::barrier || s.kind == SiteKind::mbarrier; });
}

}  // namespace warpgrind::events
