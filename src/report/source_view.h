// A kernel's source with the counters of each line beside it, in 80 columns; its PTX where there are no lines.
#pragma once

#include <string>

#include "report/terminal.h"
#include "results/profile.h"

namespace warpgrind::report {

std::string source_view(const results::Profile& profile, const results::KernelProfile& kernel,
                        const TextOptions& options);

// All kernels of the profile, and what the columns mean.
std::string source_text_view(const results::Profile& profile, const TextOptions& options);

}  // namespace warpgrind::report
