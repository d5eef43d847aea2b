// Errors of the API that the program does not look at, as findings of `warpgrind check`.
#pragma once

#include <vector>

#include "checkers/checker.h"
#include "results/finding.h"
#include "session/api_errors.h"

namespace warpgrind::session {

// One for each, in their order: api-error, launch-config for launches that break a rule, api-misuse for what was
// destroyed.
std::vector<results::Finding> api_findings(const std::vector<ApiErrors::Entry>& entries, checkers::Checkers& checkers);

}  // namespace warpgrind::session
