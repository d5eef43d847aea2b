// Options of the command line that several commands share: the virtual GPU, and the compilation of .cu files.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/commands.h"

namespace warpgrind::cli {

void add_stall(CLI::App* app, double& stall);
// Options of the virtual GPU, for every command that starts one.
void add_execution(CLI::App* app, unsigned& threads, double& timeout, std::string& cache, bool& no_cache);
void add_fill(CLI::App* app, int& fill);
void add_schedule(CLI::App* app, device::Schedule& schedule);
void add_some_blocks(CLI::App* app, session::RunOptions& options);
// Options with ncu's names.
void add_launch_filter(CLI::App* app, session::LaunchFilter& filter);
void add_core(CLI::App* app, CoreOptions& core);
// Options for the compilation of .cu files.
void add_compilation(CLI::App* app, RunCommand& command);

}  // namespace warpgrind::cli
