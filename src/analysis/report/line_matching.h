// Mapping of the lines of an older text to those of a newer one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace warpgrind::report {

// [i] is the line number (from 1) in `after` of line i + 1 of `before`; 0: the line was removed. Uses the longest
// common subsequence of lines. In texts too long for that, only the equal beginning and end are matched.
std::vector<std::uint32_t> match_lines(std::string_view before, std::string_view after);

std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace warpgrind::report
