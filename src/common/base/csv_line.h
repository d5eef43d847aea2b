// Parser for one line of comma-separated values, as Nsight Compute and our own tools write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpgrind {

// The cells of one line. A cell may be quoted; inside it, "" stands for one quote. Carriage returns are dropped.
std::vector<std::string> split_csv_line(std::string_view line);

}  // namespace warpgrind
