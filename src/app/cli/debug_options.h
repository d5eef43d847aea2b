// Options of the debugger's commands: `warpgrind dap` and `warpgrind debug`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace warpgrind::cli {

CLI::App* add_dap(CLI::App& app, DapCommand& command);

}  // namespace warpgrind::cli
