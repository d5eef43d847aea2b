// What the program sees after a kernel has failed: every call gives the same error, whatever it asks for. Said as one
// thing, with the kernel that failed first.
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
  void returned(const std::string& error);  // by the call of the program that is under way
  // INFO, when more calls than the one that told it have returned the error; goes_on: what the program asked for was
  // done nevertheless.
  std::optional<results::Finding> finding(bool goes_on) const;

 private:
  mutable std::mutex mutex_;
  std::optional<device::Fault> fault_;
  std::string error_;
  HostStack first_;
  std::uint64_t calls_ = 0;
};

}  // namespace warpgrind::session
