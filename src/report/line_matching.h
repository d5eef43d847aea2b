// Which line of an older text is which line of a newer one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace warpgrind::report {

// [i] is the number (from 1) of the line in `after` that line i + 1 of `before` became; 0: it is gone. By the longest
// common subsequence of lines; texts too long for that are matched by their equal beginning and end alone.
std::vector<std::uint32_t> match_lines(std::string_view before, std::string_view after);

std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace warpgrind::report
