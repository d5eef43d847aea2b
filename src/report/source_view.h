// A kernel's source with the counters of each line beside it, ; its PTX where there are no lines. Long
// lines are continued in the next one at `width` columns; 0: they are left as they are (a file, a pipe).
#pragma once

#include <string>

#include "report/terminal.h"
#include "results/profile.h"

namespace warpgrind::report {

std::string source_view(const results::Profile& profile, const results::KernelProfile& kernel,
                        const TextOptions& options, std::size_t width = 0);

// All kernels of the profile, and what the columns mean.
std::string source_text_view(const results::Profile& profile, const TextOptions& options, std::size_t width = 0);
// The columns of a terminal, at least 80; 0: the stream is none.
std::size_t terminal_width(std::FILE* stream);

}  // namespace warpgrind::report
