// Several child processes at a time, with the signals of this process held.
#include "toolchain/children.h"

#include "base/assert.h"

namespace warpgrind::toolchain {

sigset_t held_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction now {};
    // Signals that were ignored at our start (nohup) stay ignored.
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&set, signal);
  }
  return set;
}

Children::~Children() {
  end_all();
}

Result<int> Children::start(const Words& command, const std::string& messages, const Words& variables) {
  ProcessCommand start{.words = command};
  start.unset = {"LD_PRELOAD"};  // it is for programs under test
  start.set = variables;
  if (!messages.empty()) start.errors = Stream::file(messages);
  start.inherits_files = true;  // `nvcc <(...)`, and what a program of --run expects
  start.death_signal = SIGKILL;
  const auto child = start_process(start);
  if (!child) return child.error();
  running_.emplace(next_, *child);
  return next_++;
}

void Children::end_all() {
  for (const auto& [number, child] : running_) child.send(SIGTERM);
  for (const auto& [number, child] : running_) child.wait();
  running_.clear();
}

Children::Ended Children::wait() {
  WG_ASSERT(!running_.empty());
  const sigset_t set = held_signals();
  for (;;) {
    for (const auto& [number, child] : running_) {
      const auto end = child.ended();
      if (!end) continue;
      const Ended ended{number, end->shell_code(), 0};
      running_.erase(ended.child);
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
