// Subcommand `warpgrind debug`: a debugger for kernels with gdb's words, in the terminal.
#include <filesystem>

#include "cli/check_command.h"
#include "cli/commands.h"
#include "cli/debug_program.h"
#include "cli/main_source.h"
#include "debug/terminal.h"

namespace warpgrind::cli {

int debug(const DebugCommand& command) {
  if (command.run.program.empty()) {
    complain("debug: no program given", "warpgrind debug [OPTIONS] PROGRAM [ARGUMENTS...]");
    return kUsageError;
  }
  debug::LaunchOptions options;
  options.program = command.run.program;
  options.host = command.host;
  RunCommand run = command.run;
  for (const std::string& words : command.only)
    if (Status added = add_groups(words, run.options.checks); !added) return complain(added.error()), kUsageError;
  if (command.check && command.only.empty()) select_all(run.options.checks);
  DebugProgram program(run);
  // The program is compiled by the first `run`, so that breakpoints can be set meanwhile.
  const auto code = debug::run_terminal(
      {command.files, command.commands, main_source(command.run.program), command.batch, run.options.checks.any()},
      std::move(options), [&](const debug::LaunchOptions& launch) { return program.prepare(launch); });
  if (code) return *code;
  complain(code.error());
  return kUsageError;
}

}  // namespace warpgrind::cli
