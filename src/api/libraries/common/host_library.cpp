// Opening a library of the host, and finding its functions.
#include "libraries/common/host_library.h"

#include <dlfcn.h>

namespace warpgrind::libraries {

HostLibrary::HostLibrary(std::initializer_list<const char*> files, const char* package) {
  for (const char* file : files) {
    handle_ = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    file_ = file;
    if (handle_) return;
  }
  missing_ = file_ + " is not installed (Debian's package " + package + ")";
}

void* HostLibrary::find(const char* name) {
  void* found = handle_ ? ::dlsym(handle_, name) : nullptr;
  if (!found && missing_.empty()) missing_ = file_ + " has no " + name;
  return found;
}

}  // namespace warpgrind::libraries
