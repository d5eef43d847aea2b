// Findings of `warpgrind check` for API errors that the program does not check.
#pragma once

#include <vector>

#include "checkers/checker.h"
#include "results/finding.h"
#include "session/api_errors.h"

namespace warpgrind::session {

// One finding per entry, in their order: launch-config for launches that break a rule, api-misuse for use of a
// destroyed handle, else api-error. Errors that only answer a question (cudaErrorNotReady) give none.
std::vector<results::Finding> api_findings(const std::vector<ApiErrors::Entry>& entries, checkers::Checkers& checkers);

}  // namespace warpgrind::session
