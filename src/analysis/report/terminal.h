// Profiles and findings as text for a terminal of 80 columns.
#pragma once

#include <cstdio>
#include <string>

#include "results/profile.h"

namespace warpgrind::report {

struct TextOptions {
  bool colour = false;
  bool each_launch = false;  // print Profile::launches instead of the sums
  bool others_ran = false;   // leave out that no kernel ran, because of other processes of the run
};

// True if the stream is a terminal, NO_COLOR is not set, and TERM is not "dumb".
bool wants_colour(std::FILE* stream);

// One table per kernel, the copies, and a note on what is not modelled. Findings are printed when they occur
// (finding_text).
std::string profile_text(const results::Profile& profile, const TextOptions& options);
std::string kernel_text(const results::KernelProfile& kernel, const TextOptions& options);

// The problem, its place (kernel, source line, block, thread), and the advice.
std::string finding_text(const results::Finding& finding, const TextOptions& options);

}  // namespace warpgrind::report
