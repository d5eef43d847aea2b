// Last resort: a signal in machine code (a wild address that slipped through, a full stack) becomes a fault of the
// kernel instead of the end of the process.
#pragma once

namespace warpgrind::device {

struct Worker;

// While it lives, SIGSEGV, SIGBUS, SIGFPE and SIGILL of this thread belong to the worker.
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
