// Subcommand `warpgrind prepare`.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/installation.h"
#include "base/printable.h"
#include "cli/child.h"
#include "cli/commands.h"
#include "cli/compile_program.h"
#include "session/options.h"
#include "toolchain/prepare.h"

namespace warpgrind::cli {

namespace fs = std::filesystem;

namespace {

// Lets other users read what is in the folder. Compiled programs are removed: they are found only by their user.
void share(const std::string& folder) {
  const auto mode = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read | fs::perms::others_read;
  const auto enter = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  std::error_code problem;
  fs::remove_all(folder + "/programs", problem);
  fs::permissions(folder, mode | enter, problem);
  for (fs::recursive_directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    std::error_code gone;
    const fs::path path = at->path();
    fs::permissions(path, fs::is_directory(path, gone) ? mode | enter : mode, gone);
  }
}

}  // namespace

int prepare(const PrepareCommand& command) {
  if (!command.kernels.empty()) return prepare_kernels(command);
  const std::string cache =
      command.installation ? own_parts().libraries + "/prepared" : session::default_cache_directory();
  if (cache.empty()) return complain("there is no folder for the cache: HOME is not set", ""), kUsageError;
  const std::string folder = precompiled_headers_in(cache);
  std::error_code problem;
  std::vector<std::string> words = usual_options(command.gpu);
  words.emplace_back("prepared.cu");
  const auto prepared = toolchain::prepare_headers(with_nvcc_variables(words), compiler_surroundings(), folder);
  if (!prepared) return complain(prepared.error()), kUsageError;
  print_text(stdout, fmt::format("precompiled in {}:\n", folder));
  for (const std::string& header : prepared->made) print_text(stdout, fmt::format("  {}\n", header));
  for (const std::string& header : prepared->lacking)
    print_text(stdout, fmt::format("  {}: left out, clang does not find or compile it\n", header));
  int failed = prepared->made.empty() ? 1 : 0;
  for (const std::string& program : command.programs) {
    const auto end = run_child({.words = {own_executable(), "run", "--quiet", "--gpu", command.gpu, "--cache", cache,
                                          fs::absolute(program, problem).string()}});
    if (!end) return complain(end.error()), kUsageError;
    if (signal_received() != 0) return end_by_signal(signal_received()), 1;
    if (end->good()) continue;
    complain(fmt::format("{}: {}", program, end->text()));
    failed = 1;
  }
  if (command.installation) share(cache);
  return failed;
}

}  // namespace warpgrind::cli
