// Profiles and findings as text for a terminal of 80 columns.
#pragma once

#include <cstdio>
#include <string>

#include "results/profile.h"

namespace warpgrind::report {

struct TextOptions {
  bool colour = false;
  bool each_launch = false;  // Profile::launches instead of the sums
};

// Colour only where a person reads: the stream is a terminal, NO_COLOR is not set, TERM is not "dumb".
bool wants_colour(std::FILE* stream);

// One table a kernel, the copies, and a note on what was not modelled. Findings are printed when they occur (finding).
std::string profile_text(const results::Profile& profile, const TextOptions& options);
std::string kernel_text(const results::KernelProfile& kernel, const TextOptions& options);

// What, where (kernel, source line, block, thread), and what to do.
std::string finding_text(const results::Finding& finding, const TextOptions& options);

}  // namespace warpgrind::report
