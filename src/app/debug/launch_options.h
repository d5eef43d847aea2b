// Arguments of DAP's `launch` request: a program, and warpgrind's own options.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "dap/message_reader.h"

namespace warpgrind::debug {

using dap::Json;

struct LaunchOptions {
  std::vector<std::string> program;     // path of an executable or .cu file, and the arguments
  std::string folder;                   // working directory; empty: that of this process
  std::vector<std::string> set, unset;  // environment: NAME=VALUE, NAME
  Json all = Json::object();            // every argument; kOwnOptions has warpgrind's
  std::optional<bool> host;             // host code is debugged, too
  std::vector<std::string> unknown;     // names that are neither ours nor an editor's
};

// Options of `warpgrind run` that `launch` takes, too.
inline constexpr const char* kOwnOptions[] = {"gpu",     "devices",  "schedule",   "threads",   "fill",
                                              "noCache", "cache",    "boundsStop", "nvccFlags", "sources",
                                              "nvrtc",   "compiler", "check",      "core",      "history"};
Result<LaunchOptions> read_launch(const Json& arguments);

// A program that is ready to be started, any number of times. The debug adapters in its processes connect to `path`.
using StartCommand = std::function<ProcessCommand(const std::string& path)>;
using Launcher = std::function<Result<StartCommand>(const LaunchOptions& options)>;

}  // namespace warpgrind::debug
