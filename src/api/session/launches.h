// The launches of the run: each is prepared, run and recorded. src/api/semantics/launch.cpp has all steps of a launch.
// Thread-safe. Lives as long as the session.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "device/access/log_parts.h"
#include "events/kernels_gone.h"
#include "gpu/gpu_model.h"
#include "results/collect.h"
#include "sass/code.h"
#include "sass/spills.h"
#include "session/activity.h"
#include "session/core_dump.h"
#include "session/devices.h"
#include "session/findings.h"
#include "session/launch_choice.h"
#include "session/launch_request.h"
#include "session/managed_memory.h"
#include "session/messages.h"
#include "session/order_trials.h"
#include "session/run.h"
#include "session/time_estimates.h"
#include "timing/timeline.h"

namespace warpgrind::session {

class Launches {
 public:
  // What a launch uses; all of it outlives the launches.
  struct Parts {
    const RunOptions& options;
    const GpuModel& model;
    Run& run;
    Messages& messages;
    Devices& devices;
    Activity& activity;
    Findings& findings;
    OrderTrials& trials;
    ManagedMemory& managed_memory;
    TimeEstimates& estimates;
    timing::Timeline& timeline;
    results::Collector& collector;
    CoreDump& core_dump;
  };
  explicit Launches(const Parts& parts);

  // Decides for each launch, in the order of issue, whether it is counted.
  LaunchChoice& choice() { return choice_; }
  // Decides for each counted launch, in the order of issue, how much of it is logged.
  device::LogParts& log_parts() { return log_parts_; }

  // On the calling thread: loads the module, compiles, checks, and returns the part of the GPU that the grid fills.
  struct Refusal {
    enum class Step : std::uint8_t { load, architecture, compile, shape } step = Step::load;
    Error error;
  };
  std::variant<double, Refusal> prepare(const LaunchRequest& request);
  // On any thread, when the stream reaches the launch.
  LaunchOutcome run(const LaunchRequest& request);
  // In the order of issue: adds findings, counts and the place on the timeline.
  timing::Span record(const LaunchRequest& request, const LaunchOutcome& outcome, timing::HostClock& host);

 private:
  const Parts parts_;
  LaunchChoice choice_;
  device::LogParts log_parts_;
  // Used by record() alone.
  std::map<std::string, double> ns_a_block_;  // of each kernel's last counted launch, for launches that are not counted
  std::map<const sass::Code*, sass::Spills> spills_;  // of each kernel's modelled machine code, which goes with it
  events::KernelsGone gone_;
  std::atomic<std::uint64_t> next_launch_{0};
};

}  // namespace warpgrind::session
