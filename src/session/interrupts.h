// Ctrl-C while a kernel runs: the kernel stops at its next loop and says where each warp is; otherwise the signal does
// what it always does.
#pragma once

namespace warpgrind::session {

// Marks that a kernel runs in this thread. The first one installs the SIGINT handler, unless the program has its own.
class RunningKernel {
 public:
  RunningKernel();
  ~RunningKernel();
  RunningKernel(const RunningKernel&) = delete;
  RunningKernel& operator=(const RunningKernel&) = delete;
  [[noreturn]] void die_of_interrupt();
};

}  // namespace warpgrind::session
