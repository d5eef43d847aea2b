// Handling of Ctrl-C and of signals that end the process. A running kernel stops at its next loop back edge and reports
// where each warp is. Otherwise the signal has its usual effect. Before that, a run of checks reports its findings, and
// a rank of an MPI job its counters.
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
  [[noreturn]] void die_of_interrupt();  // ends the process by the signal that it received
};

// From now on, SIGTERM (for example from `timeout`), SIGINT and SIGPIPE stop the running kernels, unless the program
// handles the signal itself. Then a separate thread calls `report`, and the process ends by that signal. Call once per
// process. Returns false if the host allows no more threads; the signals then keep their usual effect.
bool report_before_signals(std::function<void()> report);

}  // namespace warpgrind::session
