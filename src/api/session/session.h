// The session: all objects of the process under test that outlive a call. The CUDA APIs (src/api/semantics,
// src/api/runtime) are a layer over them. Its parts are thread-safe, and live until the process ends.
#pragma once

#include <memory>

#include "checkers/checker.h"
#include "gpu/gpu_model.h"
#include "results/collect.h"
#include "session/activity.h"
#include "session/after_fault.h"
#include "session/core_dump.h"
#include "session/devices.h"
#include "session/findings.h"
#include "session/launches.h"
#include "session/managed_memory.h"
#include "session/messages.h"
#include "session/options.h"
#include "session/order_trials.h"
#include "session/programs.h"
#include "session/run.h"
#include "session/sections.h"
#include "session/time_estimates.h"
#include "session/timeline_entries.h"
#include "session/tracked_handles.h"
#include "timing/timeline.h"

namespace warpgrind::session {

// The parts, in the order of their creation: each uses some of those before it.
struct Session {
  // Created by the first use. An invalid option ends the process with exit code 2, as the run cannot go on as
  // requested.
  static Session& instance();
  static bool exists();

  RunOptions options;
  const GpuModel& model;
  const std::unique_ptr<checkers::Checkers> checkers;  // of `warpgrind check`; null in other runs
  results::Collector collector;                        // of the profile
  timing::Timeline timeline;
  TimeEstimates estimates;
  ManagedMemory managed_memory;
  Devices devices;
  Messages messages;
  Activity activity;
  AfterFault after_fault;
  TrackedHandles handles;
  Findings findings;
  OrderTrials trials;
  Sections sections;
  Run run;
  Programs programs;
  CoreDump core_dump;
  Launches launches;
  TimelineEntries timeline_entries;

 private:
  Session();
};

// The parts that the APIs use. Functions ask for one of them, never for the whole session.
inline const RunOptions& options() {
  return Session::instance().options;
}
inline const GpuModel& model() {
  return Session::instance().model;
}
inline timing::Timeline& timeline() {
  return Session::instance().timeline;
}
inline ManagedMemory& managed_memory() {
  return Session::instance().managed_memory;
}
inline Devices& devices() {
  return Session::instance().devices;
}
inline Messages& messages() {
  return Session::instance().messages;
}
inline AfterFault& after_fault() {
  return Session::instance().after_fault;
}
inline TrackedHandles& handles() {
  return Session::instance().handles;
}
inline Activity& activity() {
  return Session::instance().activity;
}
inline Sections& sections() {
  return Session::instance().sections;
}
inline Findings& findings() {
  return Session::instance().findings;
}
inline Run& run() {
  return Session::instance().run;
}
inline Programs& programs() {
  return Session::instance().programs;
}
inline Launches& launches() {
  return Session::instance().launches;
}
inline TimelineEntries& timeline_entries() {
  return Session::instance().timeline_entries;
}

}  // namespace warpgrind::session
