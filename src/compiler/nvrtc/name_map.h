// Name expressions: "&kernel<float>" in the source, _Z6kernelIfEvPT_ in the PTX.
// A variable for each expression is appended to the program; its initial value is the address. The PTX then shows the
// symbol, and the variables are removed again. As with NVRTC, the expressions are lines of a file __nv_name_map,
// sorted, from line 2.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace warpgrind::nvrtc {

inline constexpr const char* kNameMap = "__nv_name_map";

// Text to append to the program. `arguments_of_templates`: the addresses may be template arguments (any address, since
// C++17).
std::string name_map_source(const std::set<std::string>& expressions, bool arguments_of_templates);

struct NameMap {
  std::map<std::string, std::string> lowered;  // by expression
  std::string errors;                          // lines of the log: expressions that are no address
  int error_count = 0;
};
// Removes the variables from `ptx`, and gives static symbols the names that NVIDIA's compiler gives them.
NameMap take_names(const std::set<std::string>& expressions, std::string& ptx);

// The expression that this line of a message is about; empty: none.
std::string expression_of_line(const std::set<std::string>& expressions, std::size_t line);

}  // namespace warpgrind::nvrtc
