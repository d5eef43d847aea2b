// Sites of a launch whose accesses cannot touch another thread's data: c[i] = a[i] + b[i], where i is the thread's
// number. Most kernels write like this, and the race check can skip these sites.
#pragma once

#include <cstdint>
#include <vector>

#include "device/state.h"

namespace warpgrind::device {

// By site. 1: each thread touches bytes of global memory there that no other thread of the launch touches anywhere.
// Bounds: of the launch's sites.
std::vector<std::uint8_t> own_elements(const Launch& launch, const std::vector<SiteBounds>& bounds);

}  // namespace warpgrind::device
