// Subcommand `warpgrind mcp`: a server of the Model Context Protocol on the standard streams.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "base/descriptor.h"
#include "base/installation.h"
#include "base/printable.h"
#include "base/process.h"
#include "cli/commands.h"
#include "gpu/gpu_model.h"
#include "mcp/folder_files.h"
#include "mcp/server.h"

namespace warpgrind::cli {

namespace {

sandbox::Limits limits_of(const McpCommand& command) {
  sandbox::Limits limits;
  limits.wall_seconds = command.seconds;
  limits.cpu_seconds = 2 * command.seconds;  // of all processes and threads
  limits.memory_bytes = static_cast<std::uint64_t>(command.memory_mib) << 20;
  return limits;
}

// Standard error may be shown to the user by a client, or kept in its log.
void greet(const mcp::Settings& settings) {
  if (settings.boxed && !sandbox::why_none().empty())
    complain("every run will be refused: " + sandbox::why_none(),
             "--no-sandbox runs programs with all your permissions");
  if (isatty(STDIN_FILENO))
    print_text(stderr,
               "warpgrind mcp speaks the Model Context Protocol (JSON-RPC, one message in a line) with an agent's "
               "client, which starts it: docs/agents.md\n");
}

}  // namespace

int mcp(const McpCommand& command) {
  if (Status whole = check_parts_to_compile_and_run(); !whole) return complain(whole.error()), kUsageError;
  auto model = find_gpu_model(command.gpu);
  if (!model) return complain(model.error()), kUsageError;
  mcp::Settings settings;
  settings.gpu = (*model)->id;
  settings.compiler = command.compiler;
  settings.version = WARPGRIND_VERSION;
  settings.boxed = !command.no_sandbox;
  settings.calls = command.jobs != 0 ? command.jobs : std::max(1u, std::thread::hardware_concurrency() / 2);
  settings.limits = limits_of(command);
  if (Status s = mcp::choose_folder(command.folder, environment_variable("HOME"), settings); !s)
    return complain(s.error()), kUsageError;
  greet(settings);
  // A handler, and not SIG_IGN, which programs would inherit.
  std::signal(SIGPIPE, [](int) {});
  catch_interrupts();
  // The protocol keeps both standard streams. What a child prints must not get into it.
  Descriptor in(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), out(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  dup2(nothing.get(), STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  mcp::serve(settings, std::move(in), std::move(out));
  return 0;
}

}  // namespace warpgrind::cli
