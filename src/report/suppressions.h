// Findings that a user does not want to hear of: a JSON file that `check --gen-suppressions` writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "results/finding.h"

namespace warpgrind::report {

// What a finding must look like; patterns with * and ?, empty: any.
struct Suppression {
  std::string kind, kernel, message;
  struct Place {
    std::string file, function;  // file: the end of the path
    std::uint32_t line = 0;      // 0: any
  };
  std::vector<Place> places;  // of the first accesses, in their order; there may be more
};

// {"suppressions": [{"kind", "kernel", "message", "places": [{"file", "line", "function"}]}]}. `name`: the file's, for
// the message.
Result<std::vector<Suppression>> read_suppressions(std::string_view text, const std::string& name);
bool suppresses(const Suppression& suppression, const results::Finding& finding);
// One for each finding, by kind, kernel and places.
std::string suppressions_json(const std::vector<results::Finding>& findings);

}  // namespace warpgrind::report
