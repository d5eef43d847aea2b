// Annotated source: a kernel's source with the counters of each line beside it, or its PTX if there is no line
// information. Lines longer than `width` columns are wrapped; 0: never (a file, a pipe).
#pragma once

#include <string>

#include "report/terminal.h"
#include "results/profile.h"

namespace warpgrind::report {

std::string source_view(const results::Profile& profile, const results::KernelProfile& kernel,
                        const TextOptions& options, std::size_t width = 0);

// All kernels of the profile, and the meaning of the columns.
std::string source_text_view(const results::Profile& profile, const TextOptions& options, std::size_t width = 0);
// Columns of the terminal, at least 80; 0: the stream is not a terminal.
std::size_t terminal_width(std::FILE* stream);

}  // namespace warpgrind::report
