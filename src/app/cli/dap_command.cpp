// Subcommand `warpgrind dap`: a debug adapter on the standard streams, or for one client after another on a port.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/debug_program.h"
#include "debug/relay.h"
#include "debug/vscode_extension.h"

namespace warpgrind::cli {

namespace {

int serve_editor(const DapCommand& command, debug::Channel editor) {
  // A handler, and not SIG_IGN, which the program would inherit.
  std::signal(SIGPIPE, [](int) {});
  catch_interrupts();
  DebugProgram program(command.run);
  debug::Relay relay(std::move(editor), [&](const debug::LaunchOptions& options) { return program.prepare(options); });
  relay.debug_host(command.host);
  const Status served = relay.run();
  if (served) return 0;
  complain(served.error());
  return kUsageError;
}

// The protocol keeps both standard streams. What a compiler prints must not get into it.
int serve_standard_streams(const DapCommand& command) {
  Descriptor in(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), out(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  dup2(nothing.get(), STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return serve_editor(command, debug::Channel(std::move(in), std::move(out)));
}

Result<Descriptor> listen_on(unsigned short port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int reuse = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(socket.get(), 8) != 0)
    return Error{ErrorKind::environment, fmt::format("cannot listen on 127.0.0.1:{}: {}", port, std::strerror(errno)),
                 "choose another --port; 0 chooses a free one"};
  return socket;
}

// Names this program by its path, as an editor that was started from a desktop may have another PATH.
int write_extension(const std::string& path) {
  std::error_code problem;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", problem).string();
  if (Status written = write_whole(path, debug::vscode_extension(program, WARPGRIND_VERSION)); !written)
    return complain(written.error()), kUsageError;
  print_text(stderr, fmt::format("{} makes {} known to VS Code. Install it: code --install-extension {}\n", path,
                                 program, path));
  return 0;
}

}  // namespace

int dap(const DapCommand& command) {
  if (!command.extension.empty()) return write_extension(command.extension);
  if (!command.port) return serve_standard_streams(command);
  const auto socket = listen_on(*command.port);
  if (!socket) return complain(socket.error()), kUsageError;
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(socket->get(), reinterpret_cast<sockaddr*>(&address), &size);
  print_text(stderr, fmt::format("warpgrind: listening on 127.0.0.1:{}\n", ntohs(address.sin_port)));
  for (;;) {
    Descriptor editor(accept4(socket->get(), nullptr, nullptr, SOCK_CLOEXEC));
    while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
    if (editor.get() < 0 && errno == EINTR) continue;
    if (editor.get() < 0) return complain(fmt::format("cannot accept a client: {}", std::strerror(errno))), kUsageError;
    // A session changes its folder and environment, so each has a process of its own.
    const pid_t child = fork();
    if (child == 0) return serve_editor(command, debug::Channel(std::move(editor)));
    if (child < 0) complain(fmt::format("cannot start a session: {}", std::strerror(errno)));
  }
}

}  // namespace warpgrind::cli
