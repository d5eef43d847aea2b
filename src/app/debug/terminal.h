// `warpgrind debug`: reads commands from files, the command line and standard input, and runs them.
#pragma once

#include <string>
#include <vector>

#include "debug/launch_options.h"
#include "debug/session.h"

namespace warpgrind::debug {

struct TerminalSettings {
  std::vector<std::string> files;     // with commands; "-": standard input
  std::vector<std::string> commands;  // run after the files
  std::string source;                 // of the program, for `list` and `break LINE` before it runs; empty: unknown
  bool batch = false;                 // leave then, and do not read standard input
  bool checks = false;                // the program runs with checks, and stops at their findings
  std::string core;                   // what a core file is; not empty: it is printed, and the program runs at once
};

// Returns the exit code: 0, or with `batch` 1 if a command failed. Error: a file cannot be read.
Result<int> run_terminal(const TerminalSettings& settings, LaunchOptions options, Launcher launcher);

// Starts the program at once, without breakpoints. If it stops, at a fault or (checks) a finding, commands are read as
// above; if it ends without a stop, nothing is printed. Returns the program's end; exit code 1 if the user left before
// it.
Result<ProcessEnd> run_until_fault(LaunchOptions options, Launcher launcher, bool checks);

}  // namespace warpgrind::debug
