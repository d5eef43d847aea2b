// Start, wait and end of child processes, with the signals of this process held.
#include "toolchain/children.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/argument_pointers.h"
#include "base/assert.h"

namespace warpgrind::toolchain {

namespace {

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int kCannotStart = 126;

sigset_t held_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signal : kEnding) {
    struct sigaction now {};
    // Signals that were ignored at our start (nohup) stay ignored.
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&set, signal);
  }
  return set;
}

[[noreturn]] void become(const Words& command, int messages, int report, pid_t parent, const Words& variables) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // kept by exec
  if (getppid() != parent) _exit(kCannotStart);
  if (messages >= 0) dup2(messages, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  unsetenv("LD_PRELOAD");  // it is for programs under test
  for (const std::string& variable : variables) putenv(const_cast<char*>(variable.c_str()));
  const std::vector<char*> argv = argument_pointers(command);
  execvp(argv[0], argv.data());
  const int error = errno;
  if (write(report, &error, sizeof error) < 0) _exit(kCannotStart);
  _exit(kCannotStart);
}

}  // namespace

SignalsHeld::SignalsHeld() {
  const sigset_t set = held_signals();
  sigprocmask(SIG_BLOCK, &set, &before_);
}

SignalsHeld::~SignalsHeld() {
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

Children::~Children() {
  end_all();
}

Result<int> Children::start(const Words& command, const std::string& messages, const Words& variables) {
  const auto failure = [&command](int error) {
    return Error{ErrorKind::environment, fmt::format("cannot start {}: {}", command[0], std::strerror(error)), ""};
  };
  WG_ASSERT(!command.empty());
  int file = -1;
  if (!messages.empty()) {
    file = open(messages.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0)
      return Error{ErrorKind::environment, fmt::format("cannot write {}: {}", messages, std::strerror(errno)), ""};
  }
  int report[2];  // closed by a successful exec; otherwise carries errno
  if (pipe2(report, O_CLOEXEC) != 0) {
    const int error = errno;
    if (file >= 0) close(file);
    return failure(error);
  }
  const pid_t self = getpid(), child = fork();
  if (child == 0) become(command, file, report[1], self, variables);
  int error = child < 0 ? errno : 0;
  close(report[1]);
  if (file >= 0) close(file);
  int told = 0;
  ssize_t got = 0;
  if (child > 0) {
    do got = read(report[0], &told, sizeof told);
    while (got < 0 && errno == EINTR);
  }
  close(report[0]);
  if (got == sizeof told) {
    waitpid(child, nullptr, 0);
    error = told;
  }
  if (error != 0) return failure(error);
  pids_[child] = next_;
  return next_++;
}

void Children::end_all() {
  for (const auto& [pid, number] : pids_) kill(pid, SIGTERM);
  for (const auto& [pid, number] : pids_) waitpid(pid, nullptr, 0);
  pids_.clear();
}

Children::Ended Children::wait() {
  WG_ASSERT(!pids_.empty());
  const sigset_t set = held_signals();
  for (;;) {
    for (const auto& [pid, number] : pids_) {
      int status = 0;
      if (waitpid(pid, &status, WNOHANG) != pid) continue;
      const Ended ended{number, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), 0};
      pids_.erase(pid);
      return ended;
    }
    siginfo_t info{};
    const int signal = sigwaitinfo(&set, &info);
    if (signal <= 0 || signal == SIGCHLD) continue;
    end_all();
    return {0, 0, signal};
  }
}

std::string quoted(const Words& words) {
  std::string out;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n\"'\\$`&|;<>()*?[]{}~#!") == std::string::npos;
    if (!out.empty()) out += ' ';
    if (plain) {
      out += word;
      continue;
    }
    out += '"';
    for (const char c : word) {
      if (c == '"' || c == '\\' || c == '$' || c == '`') out += '\\';
      out += c;
    }
    out += '"';
  }
  return out;
}

}  // namespace warpgrind::toolchain
