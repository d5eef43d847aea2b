// Stops at errors that end no launch: findings of the checks, and errors of CUDA calls.
#include <algorithm>

#include "debugger/debugger.h"

namespace warpgrind::debugger {

void Debugger::stop_at_reports(Report::Kind kind, bool on) {
  const auto held = hold();
  (kind == Report::Kind::finding ? at_findings_ : at_api_errors_) = on;
}

// The front decides before `configurationDone`, so an earlier report waits for that.
bool Debugger::wants(Report::Kind kind) {
  auto held = hold();
  resumed_.wait(held, [&] { return configured_ || !connected_; });
  return connected_ && !again_ && (kind == Report::Kind::finding ? at_findings_ : at_api_errors_);
}

device::Launch* Debugger::find_launch(const Report& report) const {
  if (report.accesses.empty()) return nullptr;
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [&](const device::Launch* launch) { return launch->serial == report.launch; });
  return found == running_.end() ? nullptr : *found;
}

namespace {

std::uint64_t linear_block(const device::Launch& launch, const Dim3& block) {
  const Dim3& grid = launch.config.grid;
  return block.x + std::uint64_t{grid.x} * (block.y + std::uint64_t{grid.y} * block.z);
}

// The warp that stops: the running one if it made an access of the report, or the first that is still there.
void choose_warp(const device::StopHandler::Report& report, const device::Launch& launch, Stop& stop) {
  device::WarpFiber* const running = (*launch.all_workers)[0]->current;
  for (const auto& access : report.accesses) {
    device::WarpFiber* const warp = find_warp(launch, linear_block(launch, access.block), access.warp);
    if (!warp || (stop.warp && warp != running) || (stop.warp == running && running)) continue;
    stop.warp = warp;
    stop.lane = access.lane;
  }
  if (stop.warp == running && running) return;
  if (!stop.warp && running && running->block && running->state != device::WarpState::idle) stop.warp = running;
  stop.text += stop.warp ? "\nThe checks found it only now: the threads of the accesses have gone on."
                         : "\nThe checks found it only now: the blocks of the accesses have ended.";
}

}  // namespace

void Debugger::reported(const Report& report) {
  if (!wants(report.kind)) return;
  Stop stop;
  device::Launch* launch = nullptr;
  {
    const auto held = hold();
    stop.reason = StopReason::exception;
    stop.exception = report.kind == Report::Kind::finding ? "finding" : "api";
    stop.text = report.text;
    stop.details = report.advice;
    stop.call = report.call;
    stop.callers = report.callers;
    launch = find_launch(report);
    if (launch) choose_warp(report, *launch, stop);
    going_.reset();
  }
  if (!stop.warp) return wait_in_host(stop);
  stop.position = {stop.warp->block_linear, stop.warp->context.warp, stop.warp->context.steps};
  if (!wait_for_user(stop, *launch)) return;
  // The user goes back: the launch ends at the next place that a warp passes (act()), and runs again.
  const auto held = hold();
  device::set_stop_flags(*launch, kernel_of(*launch).every.data());
}

void Debugger::wait_in_host(const Stop& stop) {
  const std::lock_guard turn(one_stop_);
  (void)wait_stopped(stop, nullptr);
}

}  // namespace warpgrind::debugger
