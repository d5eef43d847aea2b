// A run that opens the debugger's terminal at the first fault.
#include "cli/debug_on_fault.h"

#include "cli/child.h"
#include "cli/debug_program.h"
#include "debug/terminal.h"

namespace warpgrind::cli {

Status prepare_debug_on_fault(RunCommand& command) {
  const session::RunOptions& options = command.options;
  if (!options.json_path.empty() || !options.csv_path.empty() || !options.work_path.empty() ||
      command.reports.needs_profile())
    return Error{ErrorKind::bad_input, "--debug-on-fault counts nothing, so there is no profile to write",
                 "do not combine it with --json, --csv, --work, --expect, --junit, --sarif, --report or --source"};
  set_debuggable(command);
  return Ok{};
}

void set_debuggable(RunCommand& command) {
  command.debuggable = true;
  command.options.quiet = true;
  command.options.counters = command.options.caches = false;
}

Result<ProcessEnd> run_until_fault(const RunCommand& command, const PreparedRun& prepared) {
  stop_passing_signals_on();
  debug::LaunchOptions options;
  options.program = command.program;
  const auto start = [&prepared](const debug::LaunchOptions&) -> Result<debug::StartCommand> {
    return debug::StartCommand([&prepared](const std::string& path) { return command_with_debugger(prepared, path); });
  };
  return debug::run_until_fault(std::move(options), start, command.options.checks.any());
}

}  // namespace warpgrind::cli
