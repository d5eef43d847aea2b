// Argument array (argv) for exec and posix_spawn.
#pragma once

#include <string>
#include <vector>

namespace warpgrind {

// The pointers refer to `words`, which must outlive them. The last one is null. exec takes pointers without const but
// changes nothing.
inline std::vector<char*> argument_pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace warpgrind
