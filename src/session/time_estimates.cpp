#include "session/time_estimates.h"

#include <fmt/format.h>

namespace warpgrind::session {

timing::L2Contents& TimeEstimates::l2_of(int device) {
  return l2_.try_emplace(device, model_).first->second;
}

timing::KernelEstimate TimeEstimates::launch(int device, const timing::LaunchSeen& seen, const TouchedMemory& touched,
                                             const std::string& range, bool keep) {
  const std::lock_guard lock(mutex_);
  const timing::LaunchWork work = reader_.read(seen);
  timing::L2Contents& l2 = l2_of(device);
  timing::KernelEstimate estimate = timing::estimate_kernel(model_, work, l2.before(touched.device, seen.facts));
  l2.after_launch(touched.device, work.touched_bytes(), estimate.allocated_bytes, seen.facts);
  if (keep) {
    rows_ += fmt::format("\"{}\",1", range);
    for (const timing::WorkMember& m : timing::kWorkMembers) rows_ += fmt::format(",{:.6g}", work.*m.value);
    rows_ += "\n";
  }
  return estimate;
}

void TimeEstimates::written(int device, std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  l2_of(device).after_write(address, static_cast<double>(bytes));
}

std::string TimeEstimates::rows() const {
  const std::lock_guard lock(mutex_);
  std::string text = "range,repeat";
  for (const timing::WorkMember& m : timing::kWorkMembers) text += fmt::format(",{}", m.name);
  return text + "\n" + rows_;
}

}  // namespace warpgrind::session
