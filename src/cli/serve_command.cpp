// `warpgrind serve`.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/commands.h"
#include "serve/server.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;

// Where programs keep their data, as the desktop's conventions say.
Result<std::string> data_file() {
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  const bool has_data = data && *data, has_home = home && *home;
  if (!has_data && !has_home)
    return Error{ErrorKind::environment, "no place for the playground's data", "set HOME, or name a file: --data FILE"};
  const fs::path folder = (has_data ? fs::path(data) : fs::path(home) / ".local" / "share") / "warpgrind";
  std::error_code ignored;  // opening the file says what is wrong
  fs::create_directories(folder, ignored);
  return (folder / "playground.sqlite").string();
}

}  // namespace

int serve(const ServeCommand& command) {
  serve::ServeOptions options;
  if (!serve::read_address(command.listen, options.listen)) {
    complain("--listen wants ADDRESS:PORT: " + command.listen, "as 127.0.0.1:8000, [::1]:8000, or a port alone");
    return kUsageError;
  }
  options.is_public = command.is_public;
  options.names = command.names;
  Result<std::string> data = command.data.empty() ? data_file() : Result<std::string>(command.data);
  if (!data) return complain(data.error()), kUsageError;
  options.data = *data;
  options.jobs = command.jobs != 0 ? command.jobs : std::max(1u, std::thread::hardware_concurrency() / 2);
  options.limits.cpu_seconds = command.cpu_seconds;
  options.limits.wall_seconds = 3 * command.cpu_seconds;
  options.limits.memory_bytes = static_cast<std::uint64_t>(command.memory_mib) << 20;
  if (Status ended = serve::serve(options); !ended) return complain(ended.error()), kUsageError;
  return 0;
}

}  // namespace warpgrind::cli
