// Child processes: compilers and linkers, several at a time, each with its messages in a file. They all end with this
// process, also if a signal ends it.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::toolchain {

using Words = std::vector<std::string>;

inline void append(Words& to, const Words& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// While it lives, the signals that would end this process stay pending. Children::wait() returns such a signal;
// otherwise it takes effect at the end of this object's life, when nothing is left to clean up.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

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
  Ended wait();  // waits for the next child that ends; at least one runs
  std::size_t running() const { return pids_.size(); }

 private:
  void end_all();

  std::map<pid_t, int> pids_;
  int next_ = 0;
};

// The words as one command line for a shell.
std::string quoted(const Words& words);

}  // namespace warpgrind::toolchain
