// Compilers and linkers as child processes: several at a time, each with its messages in a file, none of which outlives
// this process or a signal that ends it.
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

// While it lives, signals that would end this process wait: for Children::wait(), which tells of them, or for the end
// of its life, when nothing is left to clean up.
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
  ~Children();  // ends those that still run
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  // messages: where its stderr goes; empty: to ours. variables: NAME=VALUE, set for it alone. The number is the
  // child's.
  Result<int> start(const Words& command, const std::string& messages, const Words& variables = {});
  struct Ended {
    int child = 0;
    int exit_code = 0;  // 128 + N: died of signal N
    int signal = 0;     // not 0: this process was told to end; its children have ended
  };
  Ended wait();  // for the next one that ends; at least one must run
  std::size_t running() const { return pids_.size(); }

 private:
  void end_all();

  std::map<pid_t, int> pids_;
  int next_ = 0;
};

// A command line as a shell would take it.
std::string quoted(const Words& words);

}  // namespace warpgrind::toolchain
