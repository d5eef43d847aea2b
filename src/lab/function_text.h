// Where functions begin and end in a CUDA source, without a compiler: for a reader who wants the text of a kernel.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace warpgrind::lab {

struct LineSpan {
  std::uint32_t first = 0, last = 0;  // from 1, both inside
  bool holds(std::uint32_t line) const { return first <= line && line <= last; }
};

// What stands in braces outside all others but those of namespaces and extern "C": functions, classes, initial values;
// with its head, and the comment lines above it. In the order of the text. Braces in comments, strings and directives
// do not count.
std::vector<LineSpan> definitions(std::string_view text);

}  // namespace warpgrind::lab
