// Which accesses of a launch cannot meet those of another thread: c[i] = a[i] + b[i], where i is the thread's number.
// Most kernels write so, and nobody need look for races there.
#pragma once

#include <cstdint>
#include <vector>

#include "device/execution/state.h"

namespace warpgrind::device {

// By site, 1: each thread touches bytes of global memory there that no other thread of the launch touches anywhere.
// Bounds: of the launch's sites.
std::vector<std::uint8_t> own_elements(const Launch& launch, const std::vector<SiteBounds>& bounds);

}  // namespace warpgrind::device
