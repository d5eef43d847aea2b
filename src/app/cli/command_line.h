// Command line as data: scripts/command_line.py makes the man pages and the completion of bash and zsh from it, at
// build time. `warpgrind command-line` prints it as JSON.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace warpgrind::cli {

inline constexpr const char* kCommandLine = "command-line";

std::string command_line_json(const CLI::App& app);
// The first argument should be a command and is none: complains, and returns true.
bool refuse_unknown_command(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace warpgrind::cli
