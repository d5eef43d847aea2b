// SARIF 2.1.0 of findings, failed expectations and advice. Code hosts show it beside the source lines.
#pragma once

#include <string>
#include <vector>

#include "report/expectations.h"
#include "report/junit.h"
#include "results/profile.h"

namespace warpgrind::report {

// Findings keep their level (error, warning), failed expectations are errors, advice is a note.
std::string sarif_json(const std::vector<ExpectationResult>& expectations,
                       const std::vector<results::Profile>& profiles, const RunFacts& run);

}  // namespace warpgrind::report
