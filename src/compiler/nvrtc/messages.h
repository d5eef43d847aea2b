// Log in NVRTC's form, made from clang's messages: "name(line): error: ...", the source line, and a caret below it.
// Programs parse it: they look for the header that could not be opened, and add it at their next attempt.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace warpgrind::nvrtc {

struct Messages {
  std::string log;
  int errors = 0;
  bool catastrophic = false;  // clang stopped at the first error
};

struct Origin {
  std::string header_folder;          // prefix of the names of headers given to nvrtcCreateProgram
  std::set<std::string> expressions;  // of the name map
  bool search_list = false;           // the includes have folders or headers to be searched
  bool brief = false;                 // --brief-diagnostics: without the source lines
};
Messages log_of(std::string_view said, const Origin& origin);

// The last lines of a log.
std::string summary(const Messages& messages, const std::string& program_name);

}  // namespace warpgrind::nvrtc
