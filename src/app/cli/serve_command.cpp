// Subcommand `warpgrind serve`: starts the playground's server or a worker.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/installation.h"
#include "cli/commands.h"
#include "serve/server.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;

// The data folder of the desktop's conventions (XDG).
Result<std::string> data_file() {
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  const bool has_data = data && *data, has_home = home && *home;
  if (!has_data && !has_home)
    return Error{ErrorKind::environment, "no folder for the playground's data",
                 "set HOME, or name a file: --data FILE"};
  const fs::path folder = (has_data ? fs::path(data) : fs::path(home) / ".local" / "share") / "warpgrind";
  std::error_code ignored;  // opening the file reports the error
  fs::create_directories(folder, ignored);
  return (folder / "playground.sqlite").string();
}

Result<serve::Broker> broker_of(const ServeCommand& command) {
  serve::Broker broker;
  serve::Address address{broker.host, broker.port};
  if (!serve::read_address(command.broker, address))
    return Error{ErrorKind::bad_input, "--broker needs HOST:PORT: " + command.broker, "for example 10.0.0.5:6379"};
  broker.host = address.host;
  broker.port = address.port;
  if (command.broker_password.empty()) return broker;
  auto password = read_whole(command.broker_password);
  if (!password)
    return Error{ErrorKind::bad_input, "cannot read " + command.broker_password, "--broker-password needs a file"};
  while (password->ends_with('\n')) password->pop_back();
  broker.password = *password;
  return broker;
}

sandbox::Limits limits_of(const ServeCommand& command) {
  sandbox::Limits limits;
  limits.cpu_seconds = command.cpu_seconds;
  limits.wall_seconds = 3 * command.cpu_seconds;
  limits.memory_bytes = static_cast<std::uint64_t>(command.memory_mib) << 20;
  return limits;
}

int report(const Status& ended) {
  if (ended) return 0;
  complain(ended.error());
  return kUsageError;
}

}  // namespace

int serve(const ServeCommand& command) {
  // Checked before the first user needs it: clang compiles the runs here.
  const Status whole = check_parts_to_compile_and_run();
  if (!whole && (command.worker || command.broker.empty())) return report(whole);
  std::optional<serve::Broker> broker;
  if (!command.broker.empty()) {
    auto read = broker_of(command);
    if (!read) return report(read.error());
    broker = *read;
  }
  if (command.worker) {
    if (!broker) return complain("--worker needs --broker HOST:PORT, which supplies its runs"), kUsageError;
    return report(serve::serve_as_worker({*broker, limits_of(command), command.lost_after}));
  }
  serve::ServeOptions options;
  if (!serve::read_address(command.listen, options.listen)) {
    complain("--listen needs ADDRESS:PORT: " + command.listen,
             "for example 127.0.0.1:8000, [::1]:8000, or only a port");
    return kUsageError;
  }
  Result<std::string> data = command.data.empty() ? data_file() : Result<std::string>(command.data);
  if (!data) return report(data.error());
  options.is_public = command.is_public;
  options.names = command.names;
  options.data = *data;
  options.data_bytes = static_cast<std::uint64_t>(command.data_mib) << 20;
  options.jobs = command.jobs != 0 ? command.jobs : std::max(1u, std::thread::hardware_concurrency() / 2);
  options.broker = broker;
  options.connections = command.connections;
  options.boxed = !command.no_sandbox;
  options.limits = limits_of(command);
  return report(serve::serve(options));
}

}  // namespace warpgrind::cli
