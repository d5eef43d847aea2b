// The GPU whose measurements the tests of the time model know.
#pragma once

#include "gpu/gpu_model.h"

namespace warpgrind::timing {

inline const GpuModel& h200() {
  return **find_gpu_model("h200");
}

}  // namespace warpgrind::timing
