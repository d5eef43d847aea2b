// Function boundaries in a CUDA source, found without a compiler, to show a reader the text of a kernel.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace warpgrind::lab {

struct LineSpan {
  std::uint32_t first = 0, last = 0;  // from 1; both lines belong to the span
  bool holds(std::uint32_t line) const { return first <= line && line <= last; }
};

// Functions, classes and initial values: everything in braces, outside all other braces except those of namespaces and
// extern "C". Each span includes its head and the comment lines above it, in the order of the text. Braces in comments,
// strings and directives do not count.
std::vector<LineSpan> definitions(std::string_view text);

}  // namespace warpgrind::lab
