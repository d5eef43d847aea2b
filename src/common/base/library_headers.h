// Test of whether a source file is a header of a library: of CUDA's toolkit, of the compiler, of the system, or ours.
// Reports name the user's line that uses such a header, since the user can change only that.
#pragma once

#include <string_view>

namespace warpgrind {

// file: a path as line information has it. Headers that a program brings along, such as CUTLASS's, are the program's.
bool is_library_header(std::string_view file);

}  // namespace warpgrind
