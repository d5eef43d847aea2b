// Runs of a launch in other orders than its own.
#include "session/order_trials.h"

#include <fmt/format.h>

#include "base/demangle.h"

namespace warpgrind::session {

namespace {

bool is_of_work(const results::Finding& f, std::uint64_t work) {
  return !f.accesses.empty() && f.accesses[0].of_thread && f.accesses[0].launch == work;
}

}  // namespace

OrderTrials::OrderTrials(const RunOptions& options, checkers::Checkers* checkers, const Findings& findings,
                         Messages& messages)
    : options_(options), checkers_(checkers), findings_(findings), messages_(messages) {}

std::unique_ptr<Snapshot> OrderTrials::snapshot_before(device::Device& gpu, const LaunchRequest& request,
                                                       device::LoadedModule* module) const {
  if (!checkers_ || options_.schedules <= 1) return nullptr;
  auto kernel = gpu.compiled(module, request.kernel->function, request.config.block);
  if (!kernel || !depends_on_order((*kernel)->facts(), options_.checks)) return nullptr;
  return std::make_unique<Snapshot>(other_schedules(options_.schedule, options_.schedules), gpu,
                                    [this, &gpu, &request, module](const device::Schedule& schedule) {
                                      return run_in(gpu, schedule, request, module);
                                    });
}

// Runs in a process of its own, so that the program sees no effect.
std::vector<results::Finding> OrderTrials::run_in(device::Device& gpu, const device::Schedule& schedule,
                                                  const LaunchRequest& request, device::LoadedModule* module) const {
  std::vector<results::Finding> found;
  gpu.set_schedule(schedule, true);
  const auto result = gpu.launch(module, request.kernel->function, request.config, request.parameters, request.work);
  if (!result) return found;
  const auto take = [&](const device::Fault& fault, results::Severity severity) {
    std::optional<results::Finding> f = findings_.check_finding(fault, severity);
    if (!f) return;
    if (fault.kind == device::FaultKind::timeout) {
      f->message = "the launch ends in the default order of blocks and warps, but does not end in another order";
      f->notes.clear();  // the position where it was stopped is random
      f->advice =
          "a thread waits for another block or warp that may run later: use an order that does not depend on the "
          "scheduler";
    }
    found.push_back(std::move(*f));
  };
  const auto warn = [&](const device::LaunchResult& of) {
    for (const device::Fault& warning : of.warnings) take(warning, results::Severity::warning);
  };
  warn(*result);
  for (const device::LaunchResult& child : result->children) warn(child);
  if (result->fault && !result->survived) take(*result->fault, results::Severity::error);
  for (results::Finding& f : checkers_->report())
    if (is_of_work(f, request.work)) found.push_back(std::move(f));
  return found;
}

void OrderTrials::try_others(Snapshot& snapshot, const LaunchRequest& request, const device::LaunchResult& own) {
  if (own.fault && !own.survived) return;  // that bug has to be fixed first
  const std::string kernel = demangle(request.kernel->name);
  std::vector<OrderOutcome> outcomes;
  const auto lost = [&](OrderOutcome& outcome, const std::string& order) {
    outcome.findings = {not_tried(kernel, order, outcome.problem)};
    messages_.say_once("warning: " + outcome.findings.back().message);
  };
  if (own.waited_outside) {
    outcomes.push_back({options_.schedule, {}, "it waits for the host or for other work, which cannot be repeated"});
    lost(outcomes.back(), "other orders");
  } else {
    outcomes = snapshot.ask(own.wall_seconds);
    for (OrderOutcome& outcome : outcomes)
      if (!outcome.problem.empty()) lost(outcome, "the order " + device::name(outcome.schedule));
  }
  const std::lock_guard lock(mutex_);
  std::vector<OrderOutcome>& all = outcomes_[request.work];
  std::move(outcomes.begin(), outcomes.end(), std::back_inserter(all));
}

std::vector<OrderOutcome> OrderTrials::take_outcomes() {
  std::vector<OrderOutcome> all;
  const std::lock_guard lock(mutex_);
  for (auto& [work, outcomes] : outcomes_) std::move(outcomes.begin(), outcomes.end(), std::back_inserter(all));
  return all;
}

}  // namespace warpgrind::session
