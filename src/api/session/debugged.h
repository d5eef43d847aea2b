// The debugger of a run, and what it hears of errors: findings of the checks, and errors that CUDA calls return.
#pragma once

#include <string>

#include "checkers/checker.h"
#include "device/stop_handler.h"
#include "events/observer.h"
#include "session/options.h"

namespace warpgrind::session {

// The debugger of this process; null: it is not debugged. The first call starts its adapter.
device::StopHandler* debugger_of(const RunOptions& run);
// Observer of the devices' memory, for what the debugger says of pointers. Null: the process is not debugged.
events::Observer* memory_of_debugger(const RunOptions& run);

// In the child of a fork: the debugger is its parent's. A child that may use CUDA finds its own at its first use.
void leave_debugger_after_fork();

// Shows each new finding of the checkers to the debugger. Findings of the same lines are shown once.
void show_findings(checkers::Checkers& checkers, const RunOptions& run);

// An error that a CUDA call is about to return. Call it in the thread of the call.
struct FailedCall {
  std::string call;        // empty: the entry point on the stack
  std::string name, text;  // "cudaErrorInvalidValue", "invalid argument"
  std::string reason;      // may be empty
  std::string kernel;      // of a launch: mangled
};
void show_failed_call(const FailedCall& failed, const RunOptions& run);

}  // namespace warpgrind::session
