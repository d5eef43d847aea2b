// Start of a program for the debugger, from the arguments of DAP's `launch` request.
#pragma once

#include <memory>

#include "cli/commands.h"
#include "cli/prepared_run.h"
#include "debug/launch_options.h"

namespace warpgrind::cli {

// The program of a prepared run, for one more start. Its processes that use CUDA connect to `path`.
ProcessCommand command_with_debugger(const PreparedRun& run, const std::string& path);

class DebugProgram {
 public:
  // `defaults`: options of the command line, which those of `launch` change.
  explicit DebugProgram(RunCommand defaults) : defaults_(std::move(defaults)) {}
  // Compiles and prepares the program. Call it once.
  Result<debug::StartCommand> prepare(const debug::LaunchOptions& options);

 private:
  RunCommand defaults_;
  std::unique_ptr<PreparedRun> run_;
};

}  // namespace warpgrind::cli
