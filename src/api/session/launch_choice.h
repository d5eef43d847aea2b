// Selection of the launches that are counted, with the options of ncu (Nsight Compute CLI, "Profile": --kernel-name,
// --kernel-name-base, --launch-skip, --launch-count). The other launches run at full speed.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/regular_expression.h"
#include "base/result.h"

namespace warpgrind::session {

struct LaunchFilter {
  std::string kernel_name;             // NAME or regex:EXPRESSION; empty: every kernel
  std::string name_base = "function";  // form of the kernel's name that is compared: "function", "demangled", "mangled"
  // Of the launches whose name matches, the first `skip` are left out; then `count` are counted (0: all).
  std::uint64_t skip = 0, count = 0;
  bool any() const { return !kernel_name.empty() || skip != 0 || count != 0; }
};
Status check(const LaunchFilter& filter);
// "--kernel-name reduce --launch-count 2", for reports.
std::string as_options(const LaunchFilter& filter);

// Thread-safe. The filter has been checked.
class LaunchChoice {
 public:
  explicit LaunchChoice(const LaunchFilter& filter);
  // True if this launch is counted. Call once per launch, in the order of issue.
  bool counts(const std::string& mangled_name);
  // True if the kernel's name matches, so that some of its launches may be counted.
  bool may_count(const std::string& mangled_name);

 private:
  const LaunchFilter filter_;
  std::unique_ptr<RegularExpression> expression_;
  std::mutex mutex_;
  std::map<std::string, bool> known_;  // by mangled name
  std::atomic<std::uint64_t> matched_{0};
};

}  // namespace warpgrind::session
