// SM clock of a launch. Tensor cores draw so much power that a GPU lowers its clock while they are busy, and lowers it
// further while L2 delivers their operands. Other work leaves an H200 at its highest clock.
#include <algorithm>

#include "timing/terms/terms.h"

namespace warpgrind::timing {

double busy_clock_mhz(const GpuModel& model, double tensor_share, double l2_share) {
  const TimingConstants& c = model.timing;
  const double most = model.sm_clock_mhz, busy = std::min(most, c.tensor_clock_mhz);
  const double fed = std::min(busy, c.fed_tensor_clock_mhz), tensor = std::clamp(tensor_share, 0.0, 1.0);
  return most - (most - busy) * tensor - (busy - fed) * std::clamp(l2_share, 0.0, tensor);
}

}  // namespace warpgrind::timing
