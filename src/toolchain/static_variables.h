// Under -rdc=true clang gives a static device variable that host code uses a name with the source's own suffix, so that
// the host finds this one among all of that name in the program. But it learns of that use only when it comes to it:
// code that it wrote before names the variable plainly, as an external one that nobody defines.
#pragma once

#include <string>
#include <string_view>

namespace warpgrind::toolchain {

// The PTX of one source with one name for each of them.
std::string with_static_variables_joined(std::string_view ptx);

}  // namespace warpgrind::toolchain
