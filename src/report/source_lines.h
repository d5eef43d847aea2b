// Counters by source line, and the source texts that a profile holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/profile.h"

namespace warpgrind::report {

struct SourceLine {
  std::string file;  // empty: no line information, `line` is one of the PTX
  std::uint32_t line = 0;
  std::string function;  // that the compiler put the line into, when it is not the kernel
  results::Metrics metrics;
};

// In order of file and line. From the lines of a detailed profile, else summed from the sites.
std::vector<SourceLine> source_lines(const results::KernelProfile& kernel);

// Null when the profile does not hold it.
const std::string* source_text(const results::Profile& profile, const std::string& file);
std::string line_text(const results::Profile& profile, const std::string& file, std::uint32_t line);  // "" if unknown

}  // namespace warpgrind::report
