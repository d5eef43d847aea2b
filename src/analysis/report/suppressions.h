// Suppressions of findings, in a JSON file that `check --gen-suppressions` writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "results/finding.h"

namespace warpgrind::report {

// Patterns, with * and ?, that a finding must match. Empty: any.
struct Suppression {
  std::string kind, kernel, message;
  struct Place {
    std::string file, function;  // file: the end of the path
    std::uint32_t line = 0;      // 0: any
  };
  std::vector<Place> places;  // of the first accesses, in their order; the finding may have more
};

// {"suppressions": [{"kind", "kernel", "message", "places": [{"file", "line", "function"}]}]}. `name`: file name for
// the error message.
Result<std::vector<Suppression>> read_suppressions(std::string_view text, const std::string& name);
bool suppresses(const Suppression& suppression, const results::Finding& finding);
// One for each finding, by kind, kernel and places.
std::string suppressions_json(const std::vector<results::Finding>& findings);

}  // namespace warpgrind::report
