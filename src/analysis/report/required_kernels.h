// Kernels that a run must have launched (--require-kernels), for CI: a test that runs nothing passes too easily.
#pragma once

#include <string>
#include <vector>

#include "report/expectations.h"
#include "results/profile.h"

namespace warpgrind::report {

// One result for each pattern (report::matches), after those of `expectations` expectations. It passes if a kernel of
// that name ran in any process, counted or not. A failure lists the kernels that ran, or says why none did. lost:
// processes that used CUDA and left no profile.
std::vector<ExpectationResult> check_required_kernels(const std::vector<std::string>& patterns,
                                                      const std::vector<results::Profile>& profiles, std::size_t lost,
                                                      std::size_t expectations);

}  // namespace warpgrind::report
