// Uncertainty interval of a time estimate.
#pragma once

#include "gpu/gpu_model.h"
#include "timing/terms/terms.h"

namespace warpgrind::timing {

struct Interval {
  double low = 1, high = 1;  // factors of the estimate: 80 % of the real durations lie between them
};

// Interval for a kernel that is bound by `limit` and takes `ns`. Source: the lab's rows of an H200 and kernels of
// public programs (intervals.inc). It is 1.3 times wider if no row has a similar duration, and twice as wide if most of
// the GPU's constants are not measured.
Interval interval_of(const GpuModel& model, Limit limit, double ns);

}  // namespace warpgrind::timing
