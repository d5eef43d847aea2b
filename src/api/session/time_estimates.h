// Estimated time of each launch, in the order of issue. It depends on the work of the kernel and on the data that
// earlier work has left in L2.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "events/kernels_gone.h"
#include "gpu/gpu_model.h"
#include "timing/estimate.h"
#include "timing/l2_contents.h"
#include "timing/work_of.h"

namespace warpgrind::session {

// Memory that a launch touches: the allocations that its pointer parameters point into.
struct TouchedMemory {
  timing::L2Contents::Spans device;
  timing::Footprint footprint;
  std::vector<events::FarAccesses> far;                          // by site; empty: unknown
  std::vector<std::pair<std::uint64_t, std::uint64_t>> managed;  // allocations of managed memory, [first, second)
};

struct LaunchTime {
  timing::KernelEstimate estimate;
  timing::LaunchWork work;
  timing::L2State l2;  // before the launch
};

// Thread-safe.
class TimeEstimates {
 public:
  explicit TimeEstimates(const GpuModel& model);
  ~TimeEstimates();

  // keep: rows() will include this launch.
  LaunchTime launch(int device, const timing::LaunchSeen& seen, const TouchedMemory& touched, const std::string& range,
                    bool keep);
  // A fill has written these bytes.
  void written(int device, std::uint64_t address, std::uint64_t bytes);
  // A copy within the device has read and written.
  void copied(int device, const timing::L2Contents::Span& from, const timing::L2Contents::Span& to);
  void flush_l2(int device);
  // The kept launches as CSV, one line each, with the columns of timing/launch_work.inc.
  std::string rows() const;

 private:
  struct Before;
  timing::L2Contents& l2_of(int device);
  Before& read(const timing::LaunchSeen& seen);

  const GpuModel& model_;
  mutable std::mutex mutex_;
  timing::WorkReader reader_;
  events::KernelsGone gone_;
  std::map<int, timing::L2Contents> l2_;  // by device
  std::map<const events::KernelFacts*, std::unique_ptr<Before>> before_;
  std::string rows_;
};

}  // namespace warpgrind::session
