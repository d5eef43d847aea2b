// Reading of CUDA's variables for core files, and of core files for the debugger.
#include "cli/core_options.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/demangle.h"
#include "base/file.h"
#include "base/installation.h"
#include "base/run_variables.h"
#include "report/format.h"
#include "session/core_file.h"

namespace warpgrind::cli {

namespace {

std::string absolute(const std::string& path) {
  std::error_code gone;
  const std::string out = std::filesystem::absolute(path, gone).string();
  return gone ? path : out;
}

struct OpenCore {
  std::string bytes;
  session::CoreFile core;
};

Result<std::unique_ptr<OpenCore>> read_core(const std::string& path) {
  auto bytes = read_whole(path, kLargestProgram);
  if (!bytes) return Error{ErrorKind::bad_input, fmt::format("cannot read {}: {}", path, std::strerror(errno)), ""};
  auto out = std::make_unique<OpenCore>();
  out->bytes = std::move(*bytes);
  auto core = session::decode_core(out->bytes, path);
  if (!core) return core.error();
  out->core = core.take();
  return out;
}

}  // namespace

Status prepare_core(RunCommand& command) {
  session::RunOptions& options = command.options;
  std::string path = command.core.path;
  const bool other_kind = command.debug_on_fault || options.steps || options.blocks > 0 || options.schedules > 1;
  if (!path.empty() && other_kind)
    return Error{ErrorKind::bad_input,
                 "--core cannot be combined with --debug-on-fault, --steps, --sample-blocks or --schedules", ""};
  if (path.empty() && !other_kind && environment_variable("CUDA_ENABLE_COREDUMP_ON_EXCEPTION") == "1") {
    path = environment_variable("CUDA_COREDUMP_FILE");
    if (path.empty()) path = "core_%t_%h_%p.wgcore";
  }
  if (path.empty()) return Ok{};
  options.core_path = absolute(path);
  options.core_bytes = std::uint64_t{command.core.limit_mib} << 20;
  // The order of the debugger, so that the launch runs the same way there.
  options.threads = 1;
  command.debuggable = true;
  if (options.gpu.ends_with(".json")) options.gpu = absolute(options.gpu);
  return Ok{};
}

Result<std::string> describe_core(const std::string& path) {
  const auto read = read_core(path);
  if (!read) return read.error();
  const session::CoreFile& core = (*read)->core;
  return fmt::format("Core file of `{}`, process {}, {}.\nIts fault: {}, in {}, block {}, thread {}.\n",
                     core.options.command, core.process, core.date, core.fault.message, demangle(core.kernel),
                     report::compact_dim3(core.fault.block), report::compact_dim3(core.fault.thread));
}

std::vector<std::string> core_program(const std::string& path) {
  return {own_executable(), run_variables::kPlayCore, absolute(path)};
}

Status open_core(const std::string& path, RunCommand& command) {
  const auto read = read_core(path);
  if (!read) return read.error();
  const session::RunOptions& there = (*read)->core.options;
  command.options.gpu = there.gpu;
  command.options.schedule = there.schedule;
  command.options.fill = there.fill;
  command.options.devices = 1;
  command.program = core_program(path);
  return Ok{};
}

}  // namespace warpgrind::cli
