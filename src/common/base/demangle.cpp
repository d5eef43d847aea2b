#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <string_view>

namespace warpgrind {

namespace {

// clang -fgpu-rdc gives static kernels and variables external linkage: it appends a mark and the digest of the source
// file to their names.
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

// ABI tags are part of a name: "f[abi:cxx11]()". Numba puts the state of its compiler into a tag: 40 and more
// characters that mean nothing to the author of the kernel. Tags that distinguish two versions of a kernel ("[abi:v2]")
// are short.
void leave_out_long_tags(std::string& name) {
  constexpr std::string_view kTag = "[abi:";
  constexpr std::size_t kLongest = 24;
  for (std::size_t at = 0; (at = name.find(kTag, at)) != std::string::npos;) {
    const std::size_t end = name.find(']', at);
    if (end == std::string::npos) return;
    if (end - at > kTag.size() + kLongest) {
      name.erase(at, end + 1 - at);
    } else {
      at = end;
    }
  }
}

}  // namespace

std::string demangle(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // __cxa_demangle also takes types: "s" is "short"
  int status = 0;
  char* text = abi::__cxa_demangle(std::string(without_source(name)).c_str(), nullptr, nullptr, &status);
  if (!text) return name;
  std::string out = text;
  std::free(text);
  leave_out_long_tags(out);
  return out;
}

}  // namespace warpgrind
