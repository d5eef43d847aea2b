// Signal guard, the last resort: a signal in machine code (an unchecked wild address, a full stack) becomes a fault of
// the kernel and does not end the process.
#pragma once

namespace warpgrind::device {

struct Worker;

// During its lifetime, SIGSEGV, SIGBUS, SIGFPE and SIGILL of this thread are handled for the worker.
class CrashGuard {
 public:
  explicit CrashGuard(Worker& worker);
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

 private:
  Worker* outer_;
};

}  // namespace warpgrind::device
