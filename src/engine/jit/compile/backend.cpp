#include "jit/compile/backend.h"

#include <dlfcn.h>

#include "base/installation.h"
#include "jit/compile/kernel_archive.h"

namespace warpgrind::jit {

// Defined only in an executable that must contain all code (fuzz targets); null elsewhere.
extern "C" [[gnu::weak]] Backend* warpgrind_jit_backend(std::string_view code, FindCallSymbol find);

namespace {

constexpr const char* kLibrary = "libwarpgrind_jit.so";

Result<Backend*> open() {
  auto* make = &warpgrind_jit_backend;
  if (!make) {
    const Result<std::string> path = library_of_ours(kLibrary);
    if (!path) return path.error();
    void* library = ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return Error{ErrorKind::environment, std::string("the JIT cannot be loaded: ") + ::dlerror(), ""};
    make = reinterpret_cast<decltype(make)>(::dlsym(library, "warpgrind_jit_backend"));
  }
  Backend* made = make ? make(kCodeDigest, &find_call_symbol) : nullptr;
  if (!made)
    return Error{ErrorKind::environment, std::string(kLibrary) + " belongs to another build",
                 "build or install warpgrind again"};
  return made;
}

}  // namespace

Result<Backend*> backend() {
  static const auto& opened = *new Result<Backend*>(open());  // never destroyed: used until the end of the process
  return opened;
}

ResultUse result_use(const void* return_address) {
  const Result<Backend*> with = backend();
  return with ? (*with)->result_use(return_address) : ResultUse::unknown;
}

std::vector<HostPlace> host_places(const void* return_address) {
  const Result<Backend*> with = backend();
  return with ? (*with)->host_places(return_address) : std::vector<HostPlace>{HostPlace{}};
}

}  // namespace warpgrind::jit
