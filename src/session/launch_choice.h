// Which launches of a run are counted, as ncu chooses them (Nsight Compute CLI, "Profile": --kernel-name,
// --kernel-name-base, --launch-skip, --launch-count). The others run at full speed.
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
  std::string name_base = "function";  // what it is held against: "function", "demangled", "mangled"
  // Of the launches that the name chooses: so many are left out, and then so many counted (0: all).
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
  // Asked once for each launch, in the order of issue.
  bool counts(const std::string& mangled_name);
  // Whether launches of the kernel may be counted at all.
  bool may_count(const std::string& mangled_name);

 private:
  const LaunchFilter filter_;
  std::unique_ptr<RegularExpression> expression_;
  std::mutex mutex_;
  std::map<std::string, bool> known_;  // by mangled name
  std::atomic<std::uint64_t> matched_{0};
};

}  // namespace warpgrind::session
