// Child processes: compilers and linkers, several at a time, each with its messages in a file. They all end with this
// process, also if a signal ends it.
#pragma once

#include <signal.h>

#include <map>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace warpgrind::toolchain {

using Words = std::vector<std::string>;

inline void append(Words& to, const Words& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// SIGCHLD and the signals that would end this process. While a SignalMask blocks them, they stay pending, and
// Children::wait() returns those that would end the process. Otherwise they take effect at the end of the mask's life,
// when nothing is left to clean up.
sigset_t held_signals();

class Children {
 public:
  Children() = default;
  ~Children();  // ends the children that still run
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  // `messages`: file for the child's stderr; empty: our stderr. `variables`: NAME=VALUE, set for this child only.
  // Returns the child's number.
  Result<int> start(const Words& command, const std::string& messages, const Words& variables = {});
  struct Ended {
    int child = 0;
    int exit_code = 0;  // 128 + N: died of signal N
    int signal = 0;     // not 0: this process received it; all children have ended
  };
  Ended wait();  // waits for the next child that ends; at least one must run

 private:
  void end_all();

  std::map<int, Process> running_;  // by number
  int next_ = 0;
};

// The words as one command line for a shell.
std::string quoted(const Words& words);

}  // namespace warpgrind::toolchain
