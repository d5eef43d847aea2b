// Subcommand `warpgrind debug`: a debugger for kernels with gdb's words, in the terminal.
#include <filesystem>

#include "cli/check_command.h"
#include "cli/commands.h"
#include "cli/core_options.h"
#include "cli/debug_program.h"
#include "cli/main_source.h"
#include "cli/prepared_run.h"
#include "debug/terminal.h"

namespace warpgrind::cli {

int debug(const DebugCommand& command) {
  if (!command.core.empty() &&
      (!command.run.program.empty() || command.check || !command.only.empty() || command.host)) {
    complain("debug: --core needs no program, and goes with neither --check, --only nor --host",
             "warpgrind debug --core FILE");
    return kUsageError;
  }
  if (command.run.program.empty() && command.core.empty()) {
    complain("debug: no program given", "warpgrind debug [OPTIONS] PROGRAM [ARGUMENTS...]");
    return kUsageError;
  }
  // As gdb, before the first prompt.
  if (command.core.empty())
    if (const auto found = find_program(command.run.program[0]); !found) return complain(found.error()), kUsageError;
  debug::LaunchOptions options;
  options.program = command.run.program;
  options.host = command.host;
  std::string core_text;
  if (!command.core.empty()) {
    auto text = describe_core(command.core);
    if (!text) return complain(text.error()), kUsageError;
    core_text = text.take();
    options.program = core_program(command.core);
    options.all["core"] = options.program.back();
  }
  RunCommand run = command.run;
  for (const std::string& words : command.only)
    if (Status added = add_groups(words, run.options.checks); !added) return complain(added.error()), kUsageError;
  if (command.check && command.only.empty()) select_all(run.options.checks);
  DebugProgram program(run);
  // The program is compiled by the first `run`, so that breakpoints can be set meanwhile.
  const auto code = debug::run_terminal({command.files, command.commands, main_source(command.run.program),
                                         command.batch, run.options.checks.any(), core_text},
                                        std::move(options),
                                        [&](const debug::LaunchOptions& launch) { return program.prepare(launch); });
  if (code) return *code;
  complain(code.error());
  return kUsageError;
}

}  // namespace warpgrind::cli
