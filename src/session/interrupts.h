// Ctrl-C while a kernel runs: the kernel stops at its next loop and says where each warp is; otherwise the signal does
// what it always does, except that a run of checks tells first what it has found, and a rank of an MPI job what it
// counted.
#pragma once

#include <functional>

namespace warpgrind::session {

// Marks that a kernel runs in this thread. The first one installs the SIGINT handler, unless the program has its own.
class RunningKernel {
 public:
  RunningKernel();
  ~RunningKernel();
  RunningKernel(const RunningKernel&) = delete;
  RunningKernel& operator=(const RunningKernel&) = delete;
  [[noreturn]] void die_of_interrupt();  // by the signal that asked for it
};

// From now on SIGTERM (of `timeout`, say), SIGINT and SIGPIPE, where the program handles none, stop the kernels that
// run; then `tell` is called, on a thread of its own, and the process ends by that signal. Once a process. False: the
// host allows no more threads, and the signals do what they did.
bool tell_before_signals(std::function<void()> tell);

}  // namespace warpgrind::session
