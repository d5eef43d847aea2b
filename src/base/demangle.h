// C++ names as the user wrote them.
#pragma once

#include <string>

namespace warpgrind {

// By the Itanium ABI; what is no mangled name comes back as it is.
std::string demangle(const std::string& name);

}  // namespace warpgrind
