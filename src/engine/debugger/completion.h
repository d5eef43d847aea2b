// Names that can stand in place of the last word of an expression, which may be incomplete.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/value.h"

namespace warpgrind::debugger {

struct Completions {
  std::size_t begin = 0;  // of the last word, in bytes; it may be empty
  bool are_members = false;
  std::vector<std::string> words;  // whole words that begin with it, sorted
};

// Variables of the place, with those of the program and of the PTX. Behind `.` and `->` the members of what stands
// before: that is evaluated, without side effects.
Completions complete_expression(LaneContext context, std::string_view text);

}  // namespace warpgrind::debugger
