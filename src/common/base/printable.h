// Text for a terminal. Names of files, kernels and ranges come from the program under test and from profiles of other
// people; an escape sequence in them could rename the window, hide lines or type for the user.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace warpgrind {

// The text with visible escapes ("\x1b", "\u202e") for control characters, bytes that are not UTF-8, and characters
// that change the direction of text. Kept are newlines, tabs, "\r\n", and colours: ESC [ numbers m.
std::string printable(std::string_view text);

// Writes printable(text).
void print_text(std::FILE* out, std::string_view text);

}  // namespace warpgrind
