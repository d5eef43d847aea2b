// Issue interval of dependent arithmetic instructions of one warp, in SM cycles.
#pragma once

#include "gpu/gpu_model.h"

namespace warpgrind {

// Cycles from an arithmetic instruction to a dependent one: 4 since Volta (4.1 measured on an H200), 6 on Maxwell and
// Pascal, 9 on Kepler, 18 on Fermi, 24 on 1.x (programming guides: "about 22 cycles").
inline unsigned dependent_issue_cycles(const GpuModel& m) {
  if (m.cc_major >= 7) return 4;
  if (m.cc_major >= 5) return 6;
  if (m.cc_major == 3) return 9;
  return m.cc_major == 2 ? 18 : 24;
}

}  // namespace warpgrind
