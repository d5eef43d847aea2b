// Demangling of C++ names into their source form.
#pragma once

#include <string>

namespace warpgrind {

// Follows the Itanium C++ ABI. A name that is not mangled is returned unchanged.
std::string demangle(const std::string& name);

}  // namespace warpgrind
