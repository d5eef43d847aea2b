#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <string_view>

namespace warpgrind {

namespace {

// clang -fgpu-rdc makes static kernels and variables visible under a name with the digest of their source behind it.
std::string_view without_source(std::string_view name) {
  for (const std::string_view mark : {"__intern__", "__static__"}) {
    const std::size_t at = name.rfind(mark);
    if (at == std::string_view::npos) continue;
    const std::string_view digest = name.substr(at + mark.size());
    if (!digest.empty() && digest.find_first_not_of("0123456789abcdef") == std::string_view::npos)
      return name.substr(0, at);
  }
  return name;
}

}  // namespace

std::string demangle(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // __cxa_demangle also takes types: "s" is "short"
  int status = 0;
  char* text = abi::__cxa_demangle(std::string(without_source(name)).c_str(), nullptr, nullptr, &status);
  if (!text) return name;
  std::string out = text;
  std::free(text);
  return out;
}

}  // namespace warpgrind
