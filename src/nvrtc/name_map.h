// Name expressions: "&kernel<float>" as the source has it, _Z6kernelIfEvPT_ as the PTX has it. Behind the program
// stands a variable for each, whose initial value is the address; which symbol that is stands in the PTX, and the
// variables are taken out again. As NVRTC's, the expressions are lines of a file __nv_name_map, from line 2, sorted.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace warpgrind::nvrtc {

inline constexpr const char* kNameMap = "__nv_name_map";

// What to put behind the program. arguments_of_templates: since C++17 any address may be one.
std::string name_map_source(const std::set<std::string>& expressions, bool arguments_of_templates);

struct NameMap {
  std::map<std::string, std::string> lowered;  // by expression
  std::string errors;                          // lines of the log: expressions that are no address of anything
  int error_count = 0;
};
// Takes the variables out of `ptx`, and gives what is static the names it has with NVIDIA's compiler.
NameMap take_names(const std::set<std::string>& expressions, std::string& ptx);

// Which expression the line of a message is about; empty: none.
std::string expression_of_line(const std::set<std::string>& expressions, std::size_t line);

}  // namespace warpgrind::nvrtc
