// How far the truth may be from an estimate.
#pragma once

#include "gpu/gpu_model.h"
#include "timing/terms/terms.h"

namespace warpgrind::timing {

struct Interval {
  double low = 1, high = 1;  // factors of the estimate: 80 % of the real durations lie between them
};

// Of a kernel that `limit` binds and that takes `ns`. By the lab's rows of an H200 (intervals.inc); wider for a kernel
// unlike any of them, and twice as wide for a GPU whose constants nobody has measured.
Interval interval_of(const GpuModel& model, Limit limit, double ns);

}  // namespace warpgrind::timing
