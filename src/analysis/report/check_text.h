// Output of `warpgrind check`: each finding with its places in the source, within 80 columns.
#pragma once

#include <string>
#include <vector>

#include "report/terminal.h"
#include "results/profile.h"

namespace warpgrind::report {

struct CheckCounts {
  std::size_t errors = 0, warnings = 0, infos = 0, suppressed = 0;
};

// "race-shared: ERROR: message"; each access with its source line marked; origin, cause, missing parts, advice.
std::string check_finding_text(const results::Finding& finding, const results::Profile& profile,
                               const TextOptions& options);
// "warpgrind check: 2 errors, 1 warning (also 3 of severity INFO)"
std::string check_summary(const CheckCounts& counts);

}  // namespace warpgrind::report
