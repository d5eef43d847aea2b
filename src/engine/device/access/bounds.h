// Bounds of the accesses of each site for the arguments of a launch. A site has bounds if all its address origins point
// into one allocation or variable (events::Site::origins).
#pragma once

#include <vector>

#include "device/state.h"

namespace warpgrind::device {

std::vector<SiteBounds> site_bounds(const Launch& launch);

}  // namespace warpgrind::device
