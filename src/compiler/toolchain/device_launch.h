// Kernel launches in device code (dynamic parallelism), rewritten for clang.
// clang 19 refuses `kernel<<<...>>>(...)` in device code, in both of its passes, and its errors name each place. It
// then runs again on rewritten sources with the same line numbers:
//   device half: each launch is a call between two markers, from which src/compiler/launchpass makes a launch. Kernels
//   are
//     callable functions (include/host_defines.h).
//   host half: launches in host code stay. Device code never runs there, so its launches only name their arguments.
// An overlay of clang's file system puts the rewritten files in the place of the user's: names and lines stay.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpgrind::toolchain {

struct SourcePlace {
  std::string file;  // as the compiler names it
  unsigned line = 0, column = 0;
  auto operator<=>(const SourcePlace&) const = default;
};

// The places of clang's errors about device code that launches a kernel or names one.
std::set<SourcePlace> device_launches(std::string_view messages);

std::string with_calls_for_launches(std::string_view source);
std::string without_launches_at(std::string_view source, const std::vector<SourcePlace>& places);

// The rewriting of one source. It takes several rounds until clang refuses no more launches, because clang stops at 20
// errors. The object keeps the texts rewritten so far.
class LaunchRewriting {
 public:
  struct Options {
    std::vector<std::string> host, device;  // of clang, the same in each round
  };
  // `host_said`, `device_said`: messages of the two passes of the last round. `files`: all files that the device half
  // reads. `prefix`: begins the names of the copies. Returns nullopt if the messages name no (further) launch.
  Result<std::optional<Options>> next_round(std::string_view host_said, std::string_view device_said,
                                            const std::vector<std::string>& files,
                                            const std::map<std::string, std::string>& copies,
                                            const std::string& prefix);

 private:
  bool begun_ = false;
  std::map<std::string, std::string> host_, device_;  // texts by absolute path
};

}  // namespace warpgrind::toolchain
