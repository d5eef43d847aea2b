// Evidence that results come from the answer's own kernels: what a profile shows of work done elsewhere.
#pragma once

#include <string>
#include <vector>

#include "exercises/judge.h"
#include "exercises/test_program.h"
#include "results/profile.h"

namespace warpgrind::exercises {

// `profile`: of the counted run. `rules`: kernels that they name have to do the work. An empty
// `seen` of the result: nothing is wrong.
Judged find_work_elsewhere(const results::Profile& profile, const SolutionRun& solution,
                           const std::vector<Rule>& rules);

}  // namespace warpgrind::exercises
