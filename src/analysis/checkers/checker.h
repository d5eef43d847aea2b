// Checkers: observers that report errors of the program as findings. Each checker is one file of this folder (NAME.cpp)
// and a row in checkers.inc. The findings do not depend on the number of workers: of repeated findings the first is
// reported (first_seen.h), and counts are sums.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkers/handles.h"
#include "checkers/objects.h"
#include "checkers/selection.h"
#include "checkers/works.h"
#include "events/observer.h"
#include "gpu/gpu_model.h"
#include "results/finding.h"

namespace warpgrind::checkers {

// Unwritten bytes of a memory range: their number, and the offset of the first one.
struct Unwritten {
  std::uint64_t bytes = 0, first = 0;
};
using AskUnwritten = std::function<Unwritten(std::uint64_t address, std::uint64_t bytes)>;

// Shared lookups of the checkers: the allocation at an address, the host call behind a piece of stream work. They live
// as long as the checkers, and see each event before them.
struct Known {
  const Objects& objects;
  const Works& works;
  const GpuModel& model;
  const Handles* handles = nullptr;
  // faulted: a kernel or copy has failed, so all later calls fail. gone_on: the program launched more work after a call
  // had returned that error.
  const std::atomic<bool>*faulted = nullptr, *gone_on = nullptr;
  AskUnwritten unwritten = nullptr;  // for allocated memory only; null: not tracked
};

// One instance serves all devices of the session; it is registered with each before its first launch. An event names
// its device (Launch::device). Worker numbers are unique only within a device.
class Checker : public events::Observer {
 public:
  // Called with each new finding when it is made, by the thread that makes it. launch: events::Launch::id; kNoLaunch:
  // the finding is the host's.
  using OnFinding = std::function<void(std::uint64_t launch, const results::Finding&)>;
  static constexpr std::uint64_t kNoLaunch = ~std::uint64_t{0};
  void announce_to(const OnFinding& on_finding) { on_finding_ = on_finding; }  // before the first event
  bool announces() const { return static_cast<bool>(on_finding_); }
  void announce(std::uint64_t launch, const results::Finding& finding) const {
    if (on_finding_) on_finding_(launch, finding);
  }
  // Called after the last launch. Appends the findings in any order, and forgets them.
  virtual void report(std::vector<results::Finding>& findings) = 0;
  // The same at the end of a section of the run (session/sections.h), while no launch runs. Equal findings of the next
  // section are reported again. A checker that judges the whole run reports nothing here.
  virtual void report_section(std::vector<results::Finding>& findings) { report(findings); }

 private:
  OnFinding on_finding_;  // empty: no debugger
};

// All checkers of a run, and their shared lookups.
class Checkers {
 public:
  // unwritten: reports memory that is never written; null: do not check that.
  Checkers(const Selection& selection, const GpuModel& model, AskUnwritten unwritten = nullptr);
  // Register them with each device, in this order.
  std::vector<events::Observer*> observers();
  void announce_to(const Checker::OnFinding& on_finding);  // before the first event
  // At the end of the run. Sorted by severity, then by place.
  std::vector<results::Finding> report();
  std::vector<results::Finding> report_section();  // of the section that ends now; later reports leave them out
  const Objects& objects() const { return objects_; }
  Handles& handles() { return handles_; }
  void note_fault() { faulted_ = true; }
  void note_gone_on() { gone_on_ = true; }
  bool gone_on() const { return gone_on_; }

 private:
  std::vector<results::Finding> collect(void (Checker::*report)(std::vector<results::Finding>&));

  Objects objects_;
  Works works_;
  Handles handles_;
  std::atomic<bool> faulted_{false}, gone_on_{false};
  Known known_;
  std::vector<std::pair<std::string, std::unique_ptr<Checker>>> checkers_;  // group, checker
};

}  // namespace warpgrind::checkers
