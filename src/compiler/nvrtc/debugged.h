// NVRTC under the debugger. Programs are compiled with debug information, as `warpgrind debug` compiles .cu files. A
// program hands over its source as a text, so the text is stored in a file, and the PTX names that file.
#pragma once

#include <string>
#include <vector>

#include "nvrtc/compile.h"

namespace warpgrind::nvrtc {

// The folder of the stored texts; empty: nothing is debugged. It is read once from the environment.
const std::string& debug_folder();

// The options with -G. The same options if they have it, or if they ask for LTO IR, which excludes it.
std::vector<std::string> with_debug_option(std::vector<std::string> options);

// The text, with the lines that a Python script of this program has as lines of the script (nvrtc/script_lines.h). A
// text to which the program has given a name stays as it is.
std::string with_own_script_lines(const Source& source);

// PTX whose `.file` directives name stored copies of the source and its headers: FOLDER/DIGEST/NAME. A name stays if a
// file of this name holds the same text.
std::string with_stored_sources(const std::string& ptx, const Source& source, const std::string& folder);

}  // namespace warpgrind::nvrtc
