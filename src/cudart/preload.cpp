// The library that LD_PRELOAD brings into every process of a run. It only looks whether the process has a static CUDA
// runtime; then the real library is loaded, which redirects it. Shells and compilers that a run starts pay next to
// nothing, and programs with the shared runtime get libcudart.so.13 through LD_LIBRARY_PATH.
#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "cudart/program_image.h"

namespace {

__attribute__((constructor)) void loaded() {
  using warpgrind::cudart::LoadedObject;
  using warpgrind::cudart::ProgramImage;
  Dl_info info{};
  if (!::dladdr(reinterpret_cast<void*>(&loaded), &info)) return;
  std::string path = info.dli_fname;
  std::size_t slash = path.rfind('/');
  path = (slash == std::string::npos ? std::string() : path.substr(0, slash + 1)) + "libcudart.so.13";
  bool needed = false;
  for (const LoadedObject& object : warpgrind::cudart::loaded_objects()) {
    if (object.path == path) return;  // the loader found it
    ProgramImage image;
    needed |= object.path.find("/libcudart.so") != std::string::npos;  // another one, through an RPATH
    needed |= image.open(object.path) && image.has_cuda_code();
  }
  if (needed && !::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    std::string text = std::string("warpgrind: error: ") + ::dlerror() + "\n";
    if (::write(2, text.data(), text.size()) >= 0) ::_exit(2);
    ::_exit(2);
  }
}

}  // namespace
