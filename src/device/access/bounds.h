// What the accesses of each site should stay in, by the arguments of a launch: where all that goes into an address
// points into one allocation or variable (events::Site::origins).
#pragma once

#include <vector>

#include "device/execution/state.h"

namespace warpgrind::device {

std::vector<SiteBounds> site_bounds(const Launch& launch);

}  // namespace warpgrind::device
