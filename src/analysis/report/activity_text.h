// Lines about what a program silently left undone: it ran no kernel, it read an error and continued, it did not find a
// library of NVIDIA's.
#pragma once

#include <string>
#include <vector>

#include "results/profile.h"

namespace warpgrind::report {

// One line each, the most important first; empty: nothing worth a line. Kernels that were never launched are counted
// for programs with few kernels only: libraries bring thousands.
std::vector<std::string> left_undone(const results::Profile& profile);
std::string left_undone_text(const results::Profile& profile);  // these lines within 80 columns

}  // namespace warpgrind::report
