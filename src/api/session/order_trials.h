// The trials of launches in other orders than their own, for `warpgrind check --schedules N` (other_orders.h).
// Thread-safe. Lives as long as the session.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "checkers/checker.h"
#include "session/findings.h"
#include "session/launch_request.h"
#include "session/messages.h"
#include "session/options.h"
#include "session/other_orders.h"

namespace warpgrind::session {

class OrderTrials {
 public:
  // checkers: of `warpgrind check`; null in other runs. All arguments outlive this object.
  OrderTrials(const RunOptions& options, checkers::Checkers* checkers, const Findings& findings, Messages& messages);

  // Before the launch runs; nullptr: its result does not depend on the order, or one order is enough.
  std::unique_ptr<Snapshot> snapshot_before(device::Device& gpu, const LaunchRequest& request,
                                            device::LoadedModule* module) const;
  // After it has run in its own order.
  void try_others(Snapshot& snapshot, const LaunchRequest& request, const device::LaunchResult& own);
  std::vector<OrderOutcome> take_outcomes();  // at the end of the run: of all launches, in the order of issue

 private:
  std::vector<results::Finding> run_in(device::Device& gpu, const device::Schedule& schedule,
                                       const LaunchRequest& request, device::LoadedModule* module) const;

  const RunOptions& options_;
  checkers::Checkers* const checkers_;
  const Findings& findings_;
  Messages& messages_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::vector<OrderOutcome>> outcomes_;  // by LaunchRequest::work
};

}  // namespace warpgrind::session
