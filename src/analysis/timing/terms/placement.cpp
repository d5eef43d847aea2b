// Distribution of a grid's blocks over the SMs.
#include <algorithm>
#include <cmath>

#include "timing/terms/terms.h"

namespace warpgrind::timing {

Placement place(const GpuModel& model, const LaunchWork& w) {
  const double sms = std::max(1u, model.sm_count), schedulers = std::max(1u, model.schedulers_per_sm);
  const double blocks = std::max(1.0, w.blocks), warps = std::max(1.0, w.warps_per_block);
  Placement p;
  const double per_sm = blocks / sms;
  p.per_sm = std::max(1.0, per_sm);
  p.resident = std::max(1.0, std::min(std::ceil(per_sm), w.resident_blocks));
  p.waves = std::max(1.0, per_sm / p.resident);
  p.busy_sms = std::min(blocks, sms);
  p.warps = blocks * warps;
  p.warps_per_sm = p.per_sm * warps;
  p.share = p.warps_per_sm / p.warps;
  p.warps_per_scheduler = std::max(1.0, p.warps_per_sm / schedulers);
  p.resident_warps = std::clamp(p.resident * warps / schedulers, 1.0, 16.0);
  return p;
}

}  // namespace warpgrind::timing
