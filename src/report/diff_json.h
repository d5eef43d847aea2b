// A comparison for the HTML page: what `warpgrind diff` says, as data.
#pragma once

#include <string>

#include "report/diff.h"

namespace warpgrind::report {

// file: of the earlier profile, as the user named it. {"file", "command", "notes", "kernels": [{"name", "state",
// "changes", "lines"}]}; state: "both", "new", "gone"; a change: {"label", "metric", "unit", "before", "after",
// "verdict", "origin"}; verdict: "better", "worse", "".
std::string diff_json(const ProfileDiff& diff, const results::Profile& before, const std::string& file);

}  // namespace warpgrind::report
