// A place in the source that a breakpoint command names: FILE:LINE, LINE, or a function.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace warpgrind::debug {

struct Location {
  std::string file, function;  // one of them is set
  int line = 0;                // of `file`
  std::string text() const;
  std::string name() const;  // the same, without the folders of `file`
};

// `file` and `line`: the current place, for "LINE" and the empty text. Empty file: there is none.
Result<Location> read_location(std::string_view text, const std::string& file, int line);

// Cuts a condition off: "saxpy.cu:9 if i > 3" becomes "saxpy.cu:9", and "i > 3" is returned.
std::string cut_condition(std::string& text);
// The same. Error: there is no condition behind `if`, or it cannot be right.
Result<std::string> read_condition(std::string& text);
Status check_condition(std::string_view condition);

}  // namespace warpgrind::debug
