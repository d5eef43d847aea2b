// A run that opens the debugger's terminal at the first fault.
#include "cli/debug_on_fault.h"

#include <fmt/format.h>

#include "debug/terminal.h"

namespace warpgrind::cli {

Status prepare_debug_on_fault(RunCommand& command) {
  session::RunOptions& options = command.options;
  if (!options.json_path.empty() || !options.csv_path.empty() || !options.work_path.empty() ||
      command.reports.needs_profile())
    return Error{ErrorKind::bad_input, "--debug-on-fault counts nothing, so there is no profile to write",
                 "do not combine it with --json, --csv, --work, --expect, --junit, --sarif, --report or --source"};
  command.debuggable = true;
  options.quiet = true;
  options.counters = options.caches = false;
  return Ok{};
}

Result<ProcessEnd> run_until_fault(const RunCommand& command, const PreparedRun& prepared) {
  debug::LaunchOptions options;
  options.program = command.program;
  const auto start = [&prepared](const debug::LaunchOptions&) -> Result<debug::StartCommand> {
    return debug::StartCommand([&prepared](int socket) {
      session::RunOptions with_socket = prepared.options;
      with_socket.debug_socket = socket;
      ProcessCommand out{.words = prepared.words};
      out.set = {fmt::format("{}={}", session::kOptionsVariable, session::encode(with_socket))};
      out.inherits_files = true;
      return out;
    });
  };
  return debug::run_until_fault(std::move(options), start);
}

}  // namespace warpgrind::cli
