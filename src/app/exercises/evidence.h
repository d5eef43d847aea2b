// Evidence that results come from the answer's own kernels: what a profile shows of work done elsewhere.
#pragma once

#include <string>

#include "exercises/judge.h"
#include "exercises/test_program.h"
#include "results/profile.h"

namespace warpgrind::exercises {

// `profile`: of the counted run. An empty `seen` of the result: nothing is wrong.
Judged find_work_elsewhere(const results::Profile& profile, const SolutionRun& solution);

}  // namespace warpgrind::exercises
