// Counters by source line, and source texts in a profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/profile.h"

namespace warpgrind::report {

struct SourceLine {
  std::string file;  // empty: no line information, and `line` is a PTX line
  std::uint32_t line = 0;
  std::string function;  // function that the compiled line belongs to, if not the kernel
  results::Metrics metrics;
};

// Sorted by file and line. Taken from the lines of a detailed profile, else summed over the sites.
std::vector<SourceLine> source_lines(const results::KernelProfile& kernel);

// Null if the profile does not hold the file.
const std::string* source_text(const results::Profile& profile, const std::string& file);
std::string line_text(const results::Profile& profile, const std::string& file, std::uint32_t line);  // "" if unknown

}  // namespace warpgrind::report
