// Collector of a run's launches, copies and findings into a Profile. Launches of one kernel (and device) are summed.
#pragma once

#include <memory>
#include <string>

#include "counters/kernel_counters.h"
#include "results/profile.h"
#include "timing/estimate.h"
#include "timing/work_of.h"

namespace warpgrind::results {

struct LaunchRecord {
  std::string mangled_name, name;  // name: demangled, as Nsight shows it
  std::uint64_t id = 0;            // 0, 1, 2 ... in issue order
  int device = 0;
  std::string range;  // names of the ranges open at the launch, outermost first, joined by "/"
  counters::LaunchShape shape;
  const events::KernelFacts* facts = nullptr;
  const events::LaunchCounts* counts = nullptr;
  timing::Footprint footprint;  // of global memory, as used for the estimate
  timing::KernelEstimate estimate;
  timing::LaunchWork work;  // what the estimate was made from
  timing::L2State l2;
  double wall_seconds = 0, compile_seconds = 0;  // on this machine; 0: not measured
};

// Thread-safe.
class Collector {
 public:
  // keep_launches: also stores each launch in Profile::launches (--launches, --csv). by_range: also fills
  // RangeProfile::kernels, for the first kMostRangeKernels pairs of range and kernel.
  explicit Collector(bool keep_launches, bool by_range = false);
  static constexpr std::size_t kMostRangeKernels = 4096;
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  void add(const LaunchRecord& launch);
  void add_transfer(const std::string& direction, const std::string& host_memory, std::uint64_t bytes,
                    double estimated_ns);
  // Keeps the first kMostLibraryCalls different calls with their arguments; further ones are summed by function.
  static constexpr std::size_t kMostLibraryCalls = 1000;
  void add_library_call(int device, const std::string& function, const std::string& arguments, const std::string& by,
                        double estimated_ns);
  void leave_out_host_row();
  void leave_out_launch();  // counts a launch that was not chosen: Profile::launches_left_out
  void add_finding(Finding finding);
  static constexpr std::size_t kMostTimelineEntries = 10'000;
  void add_to_timeline(TimelineEntry entry);       // keeps the first kMostTimelineEntries
  void add_to_host_timeline(TimelineEntry entry);  // likewise
  // From now on `copy` also gets all launches, transfers, library calls and findings; null: no longer. For the profile
  // of a section of the run (session/sections.h).
  void copy_to(std::shared_ptr<Collector> copy);
  // Everything collected so far. The caller fills in program, gpu, command and not_modelled.
  Profile profile() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Converts values to named metrics with unit and origin.
Metrics metrics_of(const counters::Values& values);

}  // namespace warpgrind::results
