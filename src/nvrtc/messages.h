// What clang said, in the form of NVRTC's log: "name(line): error: ...", the source line and a caret below it. Programs
// read it: they look for the header that could not be opened, and give it at their next attempt.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace warpgrind::nvrtc {

struct Messages {
  std::string log;
  int errors = 0;
  bool catastrophic = false;  // it stopped at the first of them
};

struct Origin {
  std::string header_folder;          // in front of the names of headers that were given to nvrtcCreateProgram
  std::set<std::string> expressions;  // of the name map
  bool search_list = false;           // there are folders or headers to look for includes in
  bool brief = false;                 // --brief-diagnostics: without the source
};
Messages log_of(std::string_view said, const Origin& origin);

// The last lines of a log.
std::string summary(const Messages& messages, const std::string& program_name);

}  // namespace warpgrind::nvrtc
