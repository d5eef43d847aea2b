// Lines about what a program silently left undone: it ran no kernel, it read an error and continued, it did not find a
// library of NVIDIA's.
#pragma once

#include <string>
#include <vector>

#include "results/profile.h"

namespace warpgrind::report {

// One line each, the most important first; empty: nothing worth a line. Kernels that were never launched are counted
// for programs with few kernels only: libraries bring thousands.
// others_ran: another process of the run launched kernels, so it is no news that this one did not.
std::vector<std::string> left_undone(const results::Profile& profile, bool others_ran = false);
// These lines within 80 columns.
std::string left_undone_text(const results::Profile& profile, bool others_ran = false);
std::string left_undone_text(const std::vector<results::Profile>& processes);  // of one run
// The line that no kernel ran, and why; empty if one ran.
std::string no_kernel_line(const results::Profile& profile);

}  // namespace warpgrind::report
