// Sections of the run: the profile of a part of the program's work, while the program runs (warpgrind/sections.h). The
// session begins with a section. Thread-safe. Lives as long as the session.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/gpu_model.h"
#include "results/collect.h"
#include "session/activity.h"
#include "session/findings.h"
#include "session/options.h"

namespace warpgrind::session {

class Sections {
 public:
  // All of it outlives the sections.
  struct Parts {
    const RunOptions& options;
    const GpuModel& model;
    Findings& findings;
    Activity& activity;
    results::Collector& collector;
  };
  explicit Sections(const Parts& parts) : parts_(parts) {}

  // Call both when all issued work has ended.
  void begin();
  std::string profile_json();

 private:
  const Parts parts_;
  std::mutex mutex_;
  std::shared_ptr<results::Collector> collector_;  // of the section; null before the first begin()
  std::vector<results::Finding> found_;            // by checks, in the section
};

}  // namespace warpgrind::session
