// Launches in device code (dynamic parallelism). clang 19 refuses `kernel<<<...>>>(...)` there, in both of its passes,
// and says where each stands; it is then called again with the sources rewritten, line by line the same:
//   device half   every launch is a call between two markers, which a pass of ours (src/launchpass) makes a launch;
//   kernels
//                 are functions that may be called (include/host_defines.h)
//   host half     launches of host code stay; those of device code, which nobody runs there, only name their arguments
// The rewritten files take the place of the user's by an overlay of clang's file system: names and lines stay.
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

// What clang's messages complain about: a launch, or the name of a kernel, in device code.
std::set<SourcePlace> device_launches(std::string_view messages);

std::string with_calls_for_launches(std::string_view source);
std::string without_launches_at(std::string_view source, const std::vector<SourcePlace>& places);

// One source: what is rewritten so far, over the rounds that it takes until clang finds no more launches to refuse (it
// stops at 20 errors).
class LaunchRewriting {
 public:
  struct Options {
    std::vector<std::string> host, device;  // of clang, the same in each round
  };
  // said: by the passes of the last round. files: all that the device half reads. prefix: of the names of copies.
  // Nothing comes back when the messages name no (further) launch.
  Result<std::optional<Options>> next_round(std::string_view host_said, std::string_view device_said,
                                            const std::vector<std::string>& files,
                                            const std::map<std::string, std::string>& copies,
                                            const std::string& prefix);

 private:
  bool begun_ = false;
  std::map<std::string, std::string> host_, device_;  // texts by absolute path
};

}  // namespace warpgrind::toolchain
