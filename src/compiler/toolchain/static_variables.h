// Static device variables under -rdc=true. If host code uses such a variable, clang appends the source's own suffix to
// its name: the host then finds it among all variables of that name in the program. But clang sees the use late. Code
// written before it has the plain name, as an external variable that no module defines.
#pragma once

#include <string>
#include <string_view>

namespace warpgrind::toolchain {

// The PTX of one source with one name, the one with the suffix, for each such variable.
std::string with_static_variables_joined(std::string_view ptx);

}  // namespace warpgrind::toolchain
