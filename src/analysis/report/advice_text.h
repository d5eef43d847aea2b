// Advice for a kernel ("What to do") as text for a terminal of 80 columns.
#pragma once

#include <string>

#include "report/terminal.h"
#include "results/profile.h"

namespace warpgrind::report {

// At most `most` pieces of advice, the most useful first, each with its places; "" if there is none.
std::string advice_text(const results::KernelProfile& kernel, const TextOptions& options, std::size_t most = 3);

// Breaks text into lines of at most `width` characters. Each line after the first begins with `indent`.
std::string wrapped(const std::string& text, std::size_t width, const std::string& indent);

}  // namespace warpgrind::report
