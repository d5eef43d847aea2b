// Finding about the sticky error: after a kernel has failed, every API call returns the same error. One finding covers
// all these calls and names the kernel that failed first.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/host_stack.h"
#include "checkers/checker.h"
#include "device/device.h"
#include "results/finding.h"

namespace warpgrind::session {

// Does nothing in runs without checks. Thread-safe. Lives as long as the session.
class AfterFault {
 public:
  explicit AfterFault(checkers::Checkers* checkers) : checkers_(checkers) {}  // null: a run without checks

  void failed(const device::Fault& fault);  // only the first is kept
  void returned(const char* error);         // the API call in progress returns the error of an earlier kernel
  // The program launches a kernel although it has seen the error: it goes on as if nothing had happened.
  void launched();
  // INFO, if at least two calls have returned the error.
  std::optional<results::Finding> finding() const;

 private:
  checkers::Checkers* const checkers_;
  mutable std::mutex mutex_;
  std::optional<device::Fault> fault_;
  std::string error_;
  HostStack first_;
  std::uint64_t calls_ = 0;
};

}  // namespace warpgrind::session
