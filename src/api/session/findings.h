// The findings of the run: faults of kernels and of copies, warnings, and API errors that the program has not checked.
// Most are printed when they arise; `warpgrind check` prints all at the end. Thread-safe. Lives as long as the session.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checkers/checker.h"
#include "device/device.h"
#include "results/collect.h"
#include "session/after_fault.h"
#include "session/api_errors.h"
#include "session/messages.h"
#include "session/options.h"
#include "session/other_orders.h"

namespace warpgrind::session {

class Findings {
 public:
  // checkers: of `warpgrind check`; null in other runs. All arguments outlive this object.
  Findings(const RunOptions& options, checkers::Checkers* checkers, AfterFault& after_fault, Messages& messages,
           results::Collector& collector);

  void add(const device::Fault& fault, results::Severity severity);
  void add_all_of(const device::LaunchResult& launch);  // its fault, its warnings, and those of its children
  ApiErrors& api_errors() { return api_errors_; }
  // The fault as a finding of `warpgrind check`; nullopt: a checker reports it.
  std::optional<results::Finding> check_finding(const device::Fault& fault, results::Severity severity) const;

  // At the end of a section of the run: what checks, and errors that the program did not check, have added since the
  // last call. The run's own findings keep them.
  std::vector<results::Finding> take_section();

  // ---- At the end of the run, in this order.
  void sum_up_what_went_on();
  void sum_up_sampled();        // which kernels ran in part
  void add_unchecked_errors();  // of a run without checks
  // Adds what checks have found. others: in other orders of blocks and warps.
  void contribute(results::Profile& profile, const std::vector<OrderOutcome>& others);

 private:
  void add(results::Finding finding);  // keeps it and prints it (a check: at its end)
  void add_warnings(const device::LaunchResult& launch);
  void went_on(const device::Fault& fault);
  void note_blocks(const device::LaunchResult& result);

  const RunOptions& options_;
  checkers::Checkers* const checkers_;
  AfterFault& after_fault_;
  Messages& messages_;
  results::Collector& collector_;
  ApiErrors api_errors_;
  std::mutex mutex_;                              // guards the members below
  std::map<std::string, std::uint64_t> sampled_;  // launches that ran in part, by kernel
  std::set<std::string> blocks_noted_;            // kernels that note_blocks() has reported; "": those that ran in part
  struct WentOn {
    results::Finding finding;  // of the first access
    std::uint64_t accesses = 0, launches = 0;
  };
  std::map<std::string, WentOn> went_on_;            // by kernel, function and PTX line
  std::vector<results::Finding> found_in_sections_;  // by checks, in sections that have ended
};

}  // namespace warpgrind::session
