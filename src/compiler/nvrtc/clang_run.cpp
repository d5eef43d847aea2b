// One run of clang, started by posix_spawn, with cancellation.
#include "nvrtc/clang_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/argument_pointers.h"

namespace warpgrind::nvrtc {

namespace {

constexpr useconds_t kBetweenQuestions = 10'000;  // microseconds

// The environment without the loader's variables, and without those by which compilers find headers: NVRTC ignores
// them.
std::vector<char*> environment() {
  constexpr std::string_view kLeftOut[] = {
      "LD_PRELOAD=", "LD_LIBRARY_PATH=", "CPATH=", "C_INCLUDE_PATH=", "CPLUS_INCLUDE_PATH="};
  std::vector<char*> out;
  for (char** at = environ; at && *at; at++) {
    bool left_out = false;
    for (const std::string_view name : kLeftOut) left_out |= std::string_view(*at).starts_with(name);
    if (!left_out) out.push_back(*at);
  }
  out.push_back(nullptr);
  return out;
}

class Spawn {
 public:
  explicit Spawn(const std::string& messages) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  int start(const std::vector<std::string>& command, pid_t& child) const {
    const std::vector<char*> words = argument_pointers(command);
    return posix_spawn(&child, words[0], &actions_, &attributes_, words.data(), environment().data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

Result<ClangEnd> run_clang(const std::vector<std::string>& command, const std::string& messages,
                           const std::function<bool()>& cancelled) {
  pid_t child = 0;
  if (const int error = Spawn(messages).start(command, child); error != 0)
    return Error{ErrorKind::environment, fmt::format("cannot start {}: {}", command[0], std::strerror(error)), ""};
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(child, &status, cancelled ? WNOHANG : 0);
    if (ended == child) break;
    // The program ignores SIGCHLD, or waits for all children itself. The files that clang wrote then show whether it
    // succeeded.
    if (ended < 0 && errno != EINTR) return ClangEnd::good;
    if (ended != 0) continue;
    if (cancelled()) {
      kill(child, SIGKILL);
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      return ClangEnd::cancelled;
    }
    usleep(kBetweenQuestions);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ClangEnd::good : ClangEnd::failed;
}

}  // namespace warpgrind::nvrtc
