// The estimated time of each launch, in the order of issue: what the kernel asked of the GPU, and what earlier work has
// left in L2.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "gpu/gpu_model.h"
#include "timing/estimate.h"
#include "timing/l2_contents.h"
#include "timing/work_of.h"

namespace warpgrind::session {

// What a launch touches: the allocations that its pointer parameters point into.
struct TouchedMemory {
  timing::L2Contents::Stretches device;
  timing::Footprint footprint;
  std::vector<timing::SiteMemory> memories;                      // by site; empty: not known
  std::vector<std::pair<std::uint64_t, std::uint64_t>> managed;  // allocations of managed memory, [first, second)
};

// Thread-safe.
class TimeEstimates {
 public:
  explicit TimeEstimates(const GpuModel& model);
  ~TimeEstimates();

  // keep: rows() will have it.
  timing::KernelEstimate launch(int device, const timing::LaunchSeen& seen, const TouchedMemory& touched,
                                const std::string& range, bool keep);
  // A fill or copy on the device.
  void written(int device, std::uint64_t address, std::uint64_t bytes);
  void flush_l2(int device);
  // Of the launches that were kept: CSV, one line each, with the columns of timing/launch_work.inc.
  std::string rows() const;

 private:
  struct Before;
  timing::L2Contents& l2_of(int device);
  Before& read(const timing::LaunchSeen& seen);

  const GpuModel& model_;
  mutable std::mutex mutex_;
  timing::WorkReader reader_;
  std::map<int, timing::L2Contents> l2_;  // by device
  std::map<const events::KernelFacts*, std::unique_ptr<Before>> before_;
  std::string rows_;
};

}  // namespace warpgrind::session
