// Comparison of two profiles (`warpgrind diff`) as JSON for the HTML page.
#pragma once

#include <string>

#include "report/diff.h"

namespace warpgrind::report {

// file: name of the earlier profile, as given by the user. {"file", "command", "notes", "kernels": [{"name", "state",
// "changes", "lines"}]}; state: "both", "new", "gone"; a change: {"label", "metric", "unit", "before", "after",
// "verdict", "origin"}; verdict: "better", "worse", "".
std::string diff_json(const ProfileDiff& diff, const results::Profile& before, const std::string& file);

}  // namespace warpgrind::report
