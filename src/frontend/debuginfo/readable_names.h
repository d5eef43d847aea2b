// Names of functions as a reader of the source writes them, and how a name that a user types is matched, as gdb does
// it.
#pragma once

#include <string>
#include <string_view>

namespace warpgrind::debuginfo {

struct FunctionName {
  std::string name;        // `geo::scale<float>`: no result, no parameters
  std::string parameters;  // `(float, float)`, with a `const` behind it; empty if unknown
};

// Of a mangled name, or of one that is readable already. Leaves out nvcc's namespaces `_INTERNAL_...`.
FunctionName readable_name(const std::string& linkage_name);

// The variable's own name out of a name with or without mangling: `tile` of `_ZZ3sumPfE4tile`.
std::string last_name(const std::string& linkage_name);

// True if `query` means the function: `scale`, `geo::scale`, `scale<float>`, `scale(float, float)`, or its linkage
// name. Namespaces, template arguments and ABI tags (`[abi:v1]`) may be left out; `::scale` means that there are no
// namespaces.
bool name_matches(std::string_view query, const std::string& linkage_name);
bool name_matches(std::string_view query, const FunctionName& name);

// True if `path` ends with `suffix`, in whole components. `.` and `..` in either are resolved.
bool path_matches(std::string_view path, std::string_view suffix);

}  // namespace warpgrind::debuginfo
