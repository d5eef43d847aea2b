// Options of `warpgrind mcp`, and the option of other commands that only it uses.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace warpgrind::cli {

CLI::App* add_mcp(CLI::App& app, McpCommand& command);
void add_content(CLI::App* app, RunCommand& command);

}  // namespace warpgrind::cli
