// Lines of a program's Python scripts that are its kernels' text. CuPy's RawKernel, PyCUDA's SourceModule and cuda.core
// hand NVRTC a text without a file; under the debugger, breakpoints and listings should be those of the script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpgrind::nvrtc {

struct Script {
  Script(std::string path, std::string_view text);
  std::string path;
  std::vector<std::string> lines;  // without blanks around them
};

// `text` with #line directives in front of and behind lines that it shares with a script. `name`: the text's own name.
// Shared are two lines in a row, or a longer one that the script has once. Blanks around lines do not count, and the
// text may begin and end inside a line of the script, behind its quotes. The same text if it shares nothing.
std::string with_script_lines(const std::string& text, const std::string& name, const std::vector<Script>& scripts);

// The Python files of this process: the script on its command line, and others below that script's folder. Without a
// script, those below the working folder. At most 300 files, at most 3 folders deep. Read once.
const std::vector<Script>& own_scripts();

}  // namespace warpgrind::nvrtc
