// Comma-separated values, as Nsight Compute and our own tools write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpgrind {

// The cells of one line. A cell may stand in quotes, which double inside; carriage returns are dropped.
std::vector<std::string> split_csv_line(std::string_view line);

}  // namespace warpgrind
