// Command line as data: scripts/command_line.py makes the man pages and the completion of bash and zsh from it, at
// build time. `warpgrind command-line` prints it as JSON.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace warpgrind::cli {

inline constexpr const char* kCommandLine = "command-line";

std::string command_line_json(const CLI::App& app);

}  // namespace warpgrind::cli
