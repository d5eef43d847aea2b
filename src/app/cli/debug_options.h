// Options of the debugger's commands: `warpgrind dap` and `warpgrind debug`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace warpgrind::cli {

CLI::App* add_debug(CLI::App& app, DebugCommand& command);
// Words of gdb's command line with one dash, such as -ex, as CLI11 wants them. `arguments` begin with the command.
void double_dashes(const CLI::App& debug, std::vector<std::string>& arguments);
CLI::App* add_dap(CLI::App& app, DapCommand& command);

}  // namespace warpgrind::cli
