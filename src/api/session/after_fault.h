// Finding about the sticky error: after a kernel has failed, every API call returns the same error. One finding covers
// all these calls and names the kernel that failed first.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/host_stack.h"
#include "device/device.h"
#include "results/finding.h"

namespace warpgrind::session {

// Thread-safe.
class AfterFault {
 public:
  void failed(const device::Fault& fault);  // only the first is kept
  void returned(const std::string& error);  // by the API call in progress
  // INFO, if at least two calls have returned the error. goes_on: the work of these calls was done nevertheless.
  std::optional<results::Finding> finding(bool goes_on) const;

 private:
  mutable std::mutex mutex_;
  std::optional<device::Fault> fault_;
  std::string error_;
  HostStack first_;
  std::uint64_t calls_ = 0;
};

}  // namespace warpgrind::session
