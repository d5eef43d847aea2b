// Location of our own libraries (base/parts.h), and the message for a missing one.
#pragma once

#include <dlfcn.h>

#include <string>
#include <string_view>

#include "base/parts.h"

namespace warpgrind::runtime {

// Folder of the loaded object that contains this address, with a '/' at the end. Empty if there is no such object or it
// has no path.
inline std::string folder_of(const void* address) {
  Dl_info info{};
  if (!::dladdr(address, &info) || !info.dli_fname) return {};
  const std::string_view path = info.dli_fname;
  return std::string(path.substr(0, path.rfind('/') + 1));
}

// Folders of the installation that libwarpgrind_preload.so belongs to.
PartFolders own_parts();

// Reports a missing part, once for all processes of the run. The run then counts as incomplete (exit code 2).
void say_missing(const Part& part, const PartFolders& folders);

}  // namespace warpgrind::runtime
