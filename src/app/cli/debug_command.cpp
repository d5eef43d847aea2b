// Subcommand `warpgrind debug`: a debugger for kernels with gdb's words, in the terminal.
#include <filesystem>

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
  DebugProgram program(command.run);
  // The program is compiled by the first `run`, so that breakpoints can be set meanwhile.
  const auto code = debug::run_terminal(
      {command.files, command.commands, main_source(command.run.program), command.batch}, std::move(options),
      [&](const debug::LaunchOptions& launch) { return program.prepare(launch); });
  if (code) return *code;
  complain(code.error());
  return kUsageError;
}

}  // namespace warpgrind::cli
