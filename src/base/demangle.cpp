#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>

namespace warpgrind {

std::string demangle(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (!text) return name;
  std::string out = text;
  std::free(text);
  return out;
}

}  // namespace warpgrind
