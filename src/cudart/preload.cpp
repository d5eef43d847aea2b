// The library that LD_PRELOAD brings into every process of a run. It only looks whether the process has a static CUDA
// runtime; if so, the program is started again with the real library preloaded, which redirects it. (Loading it now
// would be too late: its thread-local storage needs a place that the loader gives only at the start.) Shells and
// compilers that a run starts pay next to nothing, and programs with the shared runtime get libcudart.so.13 through
// LD_LIBRARY_PATH.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "cudart/program_image.h"

namespace {

constexpr const char* kAgain = "WARPGRIND_STARTED_AGAIN";  // process number: the second start must not lead to a third

std::string library_path() {
  Dl_info info{};
  if (!::dladdr(reinterpret_cast<void*>(&library_path), &info)) return {};
  std::string path = info.dli_fname;
  std::size_t slash = path.rfind('/');
  return (slash == std::string::npos ? std::string() : path.substr(0, slash + 1)) + "libcudart.so.13";
}

[[noreturn]] void give_up(const std::string& why) {
  std::string text = "warpgrind: error: " + why + "\n";
  if (::write(2, text.data(), text.size()) >= 0) ::_exit(2);
  ::_exit(2);
}

bool needs_library(const std::string& library, bool& there) {
  using warpgrind::cudart::LoadedObject;
  using warpgrind::cudart::ProgramImage;
  bool needed = false;
  there = false;
  for (const LoadedObject& object : warpgrind::cudart::loaded_objects()) {
    there |= object.path == library;
    ProgramImage image;
    needed |= object.path.find("/libcudart.so") != std::string::npos;  // another one, through an RPATH
    needed |= image.open(object.path) && image.has_cuda_code();
  }
  return needed;
}

__attribute__((constructor)) void loaded(int, char** argv, char**) {
  std::string library = library_path();
  bool there = false;
  if (!needs_library(library, there) || there) return;
  std::string self = std::to_string(::getpid());
  const char* again = std::getenv(kAgain);
  if (again && self == again) give_up("the loader did not load " + library);
  const char* before = std::getenv("LD_PRELOAD");
  std::string preload = library + (before && *before ? ":" + std::string(before) : "");
  ::setenv("LD_PRELOAD", preload.c_str(), 1);
  ::setenv(kAgain, self.c_str(), 1);
  char program[4096];
  ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) give_up("/proc/self/exe cannot be read");
  program[length] = 0;
  ::execv(program, argv);
  give_up(std::string("cannot start ") + program + " again: " + std::strerror(errno));
}

}  // namespace
