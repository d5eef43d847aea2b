// The GPU on which the values in the tests of the time model were measured.
#pragma once

#include "gpu/gpu_model.h"

namespace warpgrind::timing {

inline const GpuModel& h200() {
  return **find_gpu_model("h200");
}

}  // namespace warpgrind::timing
