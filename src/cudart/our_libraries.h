// The parts of the installation that warpgrind_preload belongs to (base/parts.h), and what it says when one is missing.
#pragma once

#include <dlfcn.h>

#include <string>
#include <string_view>

#include "base/parts.h"

namespace warpgrind::cudart {

// Of the object that this address is in, with a '/' at its end. Empty: of none, or without a path.
inline std::string folder_of(const void* address) {
  Dl_info info{};
  if (!::dladdr(address, &info) || !info.dli_fname) return {};
  const std::string_view path = info.dli_fname;
  return std::string(path.substr(0, path.rfind('/') + 1));
}

// Of the library that this code is in.
PartFolders own_parts();

// Says that a part is missing, once for all processes of the run, which counts as not complete (exit code 2).
void say_missing(const Part& part, const PartFolders& folders);

}  // namespace warpgrind::cudart
