// Start of a program for the debugger.
#include "cli/debug_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/json.h"
#include "base/run_variables.h"
#include "cli/check_command.h"
#include "cli/child.h"
#include "cli/core_options.h"
#include "device/schedule.h"

namespace warpgrind::cli {

namespace {

using debug::Json;

Error wrong_option(const char* name, const std::string& form) {
  return {ErrorKind::bad_input, fmt::format("launch: \"{}\" must be {}", name, form), ""};
}

// Sets `out` if the option is given.
template <class T>
Status read_option(const Json& options, const char* name, const char* form, T& out) {
  const auto found = options.find(name);
  if (found == options.end() || found->is_null() || json::read_value(*found, out)) return Ok{};
  return wrong_option(name, form);
}

Status read_list(const Json& options, const char* name, std::vector<std::string>& out) {
  const auto found = options.find(name);
  if (found == options.end() || found->is_null()) return Ok{};
  if (!found->is_array()) return wrong_option(name, "a list of texts");
  for (const Json& word : *found) {
    if (!word.is_string()) return wrong_option(name, "a list of texts");
    out.push_back(word.get<std::string>());
  }
  return Ok{};
}

// "check": true, or the groups of checks.
Status read_checks(const Json& options, checkers::Selection& checks) {
  const auto found = options.find("check");
  if (found == options.end() || found->is_null()) return Ok{};
  if (found->is_string()) return add_groups(found->get<std::string>(), checks, "launch: \"check\"");
  bool all = false;
  if (!json::read_value(*found, all)) return wrong_option("check", "true, or groups such as \"races,init\"");
  if (all) select_all(checks);
  return Ok{};
}

// The options of debug::kOwnOptions.
Status apply(const Json& options, RunCommand& command) {
  session::RunOptions& run = command.options;
  std::string schedule;
  const auto number = "a number";
  const auto text = "a text";
  const auto flag = "true or false";
  for (const Status& read :
       {read_option(options, "gpu", "the name of a GPU model", run.gpu),
        read_option(options, "devices", number, run.devices), read_option(options, "threads", number, run.threads),
        read_option(options, "schedule", text, schedule), read_option(options, "fill", "a byte, 0 to 255", run.fill),
        read_option(options, "cache", "the path of a folder", run.cache_directory),
        read_option(options, "history", "a number of MiB", run.debug_history),
        read_option(options, "noCache", flag, command.no_cache),
        read_option(options, "boundsStop", flag, run.bounds_stop), read_option(options, "nvrtc", text, command.nvrtc),
        read_option(options, "compiler", "nvcc or clang", command.compiler),
        read_list(options, "nvccFlags", command.nvcc_flags), read_list(options, "sources", command.sources)})
    if (!read) return read.error();
  if (Status read = read_checks(options, run.checks); !read) return read.error();
  if (!schedule.empty()) {
    const auto order = device::read_schedule(schedule);
    if (!order) return wrong_option("schedule", "forward, reverse, interleaved or random:SEED");
    run.schedule = *order;
  }
  constexpr unsigned kMostHistory = 65536;
  if (run.debug_history > kMostHistory) return wrong_option("history", "0 to 65536 MiB");
  constexpr unsigned kMostDevices = 64;
  if (run.devices < 1 || run.devices > kMostDevices) return wrong_option("devices", "1 to 64");
  if (run.fill > 255) return wrong_option("fill", "a byte, 0 to 255");
  if (command.compiler != "" && command.compiler != "nvcc" && command.compiler != "clang")
    return wrong_option("compiler", "nvcc or clang");
  if (command.nvrtc != "auto" && command.nvrtc != "nvidia" && command.nvrtc != "ours")
    return wrong_option("nvrtc", "auto, nvidia or ours");
  return Ok{};
}

}  // namespace

ProcessCommand command_with_debugger(const PreparedRun& run, const std::string& path) {
  session::RunOptions with_debugger = run.options;
  with_debugger.debug_socket = path;
  // Beside the cached kernels, which name these files.
  const std::string& cache = run.options.cache_directory;
  const std::string sources = (cache.empty() ? run.folder.path : cache) + "/debug/sources";
  ProcessCommand out{.words = run.words};
  out.set = {fmt::format("{}={}", session::kOptionsVariable, session::encode(with_debugger)),
             fmt::format("{}={}", run_variables::kDebugSources, sources)};
  out.inherits_files = true;
  if (run.is_core) out.unset = {"LD_PRELOAD", run_variables::kCoreStarts};
  return out;
}

Result<debug::StartCommand> DebugProgram::prepare(const debug::LaunchOptions& options) {
  RunCommand command = defaults_;
  if (Status read = apply(options.all, command); !read) return read.error();
  command.program = options.program;
  const std::string core = json::text(options.all, "core");
  command.debuggable = true;
  command.options.quiet = true;
  command.options.counters = command.options.caches = false;
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0)
    return Error{ErrorKind::bad_input, fmt::format("launch: cwd {}: {}", options.folder, std::strerror(errno)), ""};
  // Set in this process, because the preparation adds to some of them (LD_PRELOAD, PATH).
  for (const std::string& name : options.unset) unsetenv(name.c_str());
  for (const std::string& variable : options.set) {
    const std::size_t equal = variable.find('=');
    setenv(variable.substr(0, equal).c_str(), variable.c_str() + equal + 1, 1);
  }
  if (!core.empty())
    if (Status opened = open_core(core, command); !opened) return opened.error();
  run_ = std::make_unique<PreparedRun>();
  if (Status ready = prepare_run(command, false, *run_); !ready) return ready.error();
  if (!core.empty()) run_->is_core = true;
  stop_passing_signals_on();
  return debug::StartCommand([run = run_.get()](const std::string& path) { return command_with_debugger(*run, path); });
}

}  // namespace warpgrind::cli
