// Options of commands that only compile: `warpgrind scan` and `warpgrind prepare`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace warpgrind::cli {

CLI::App* add_scan(CLI::App& app, ScanCommand& command);
CLI::App* add_prepare(CLI::App& app, PrepareCommand& command);

}  // namespace warpgrind::cli
