// The library that LD_PRELOAD brings into every process of a run. It only looks whether the process has a static CUDA
// runtime; if so, the program is started again with the real library preloaded, so that its functions are found first,
// and redirected. Libraries with a static runtime that a program opens later (dlopen) are redirected before their
// constructors run. Shells and compilers that a run starts pay next to nothing, and programs and libraries with the
// shared runtime get libcudart.so.13 through LD_LIBRARY_PATH.
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cudart/our_libraries.h"
#include "cudart/preload_early.h"
#include "cudart/preload_tools.h"
#include "cudart/program_image.h"

namespace {

constexpr const char* kAgain = "WARPGRIND_STARTED_AGAIN";  // process number: the second start must not lead to a third

std::string library_path() {
  return warpgrind::cudart::folder_of(reinterpret_cast<const void*>(&library_path)) + "libcudart.so.13";
}

[[noreturn]] void give_up(const std::string& why) {
  std::string text = "warpgrind: error: " + why + "\n";
  if (::write(2, text.data(), text.size()) >= 0) ::_exit(2);
  ::_exit(2);
}

// How many objects were loaded so far, also those that are gone.
unsigned long long loads() {
  unsigned long long adds = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;
      },
      &adds);
  return adds;
}

bool g_started = false;  // the program's first objects are dealt with
thread_local bool t_busy = false;
std::atomic<unsigned long long> g_loads{0};

// NVIDIA's library came through the loader, in place of one of ours that is missing: nothing of it is to run.
void refuse_in_place_of_missing(const warpgrind::cudart::LoadedObject& object) {
  const warpgrind::Part* const ours =
      warpgrind::stand_in(std::string_view(object.path).substr(object.path.rfind('/') + 1));
  if (!ours) return;
  const warpgrind::PartFolders folders = warpgrind::cudart::own_parts();
  if (warpgrind::is_there(*ours, folders)) return;
  warpgrind::cudart::say_missing(*ours, folders);
  ::_exit(2);
}

bool needs_library(const std::string& library, bool& there) {
  using warpgrind::cudart::LoadedObject;
  using warpgrind::cudart::ProgramImage;
  static bool was_there = false;  // it is never closed: what has been redirected jumps into it
  // Never destroyed: exit handlers open libraries, too (the JIT, for places in the host's code).
  static auto& new_objects = *new warpgrind::cudart::NewObjects;
  bool needed = false;
  for (const LoadedObject& object : new_objects()) {
    was_there |= object.path == library;
    refuse_in_place_of_missing(object);
    if (needed) continue;
    ProgramImage image;
    needed = object.path.find("/libcudart.so") != std::string::npos ||  // another one, through an RPATH
             (image.open(object.path) && (image.has_cuda_code() || image.has_static_runtime()));
  }
  there = was_there;
  return needed;
}

// Libraries of NVIDIA's that the program found through an RPATH and that there are versions of beside `library`: those,
// each after a ':'. Not where ours is there already: a program that names a file by its whole path gets both.
std::string in_place_of_nvidias(const std::string& library) {
  const std::string folder = library.substr(0, library.rfind('/') + 1);
  std::string out;
  const auto objects = warpgrind::cudart::loaded_objects();
  const auto is_there = [&](const std::string& path) {
    return std::any_of(objects.begin(), objects.end(), [&](const auto& object) { return object.path == path; });
  };
  for (const warpgrind::cudart::LoadedObject& object : objects) {
    const std::string name = object.path.substr(object.path.rfind('/') + 1);
    const warpgrind::Part* const ours = warpgrind::stand_in(name);
    if (!ours || ours->replacement != warpgrind::Replacement::at_start) continue;
    const std::string file = folder + std::string(ours->file);
    if (!is_there(file) && ::access(file.c_str(), R_OK) == 0) out += ":" + file;
  }
  return out;
}

__attribute__((constructor)) void loaded(int, char** argv, char**) {
  warpgrind::cudart::replace_tool(argv);
  std::string library = library_path();
  bool there = false;
  g_loads = loads();
  g_started = true;
  const std::string others = in_place_of_nvidias(library);
  if ((!needs_library(library, there) || there) && others.empty()) return;
  std::string self = std::to_string(::getpid());
  const char* again = std::getenv(kAgain);
  if (again && self == again) give_up("the loader did not load " + library);
  const char* before = std::getenv("LD_PRELOAD");
  std::string preload = library + others + (before && *before ? ":" + std::string(before) : "");
  ::setenv("LD_PRELOAD", preload.c_str(), 1);
  ::setenv(kAgain, self.c_str(), 1);
  char program[4096];
  ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) give_up("/proc/self/exe cannot be read");
  program[length] = 0;
  ::execv(program, argv);
  give_up(std::string("cannot start ") + program + " again: " + std::strerror(errno));
}

// Something was opened: if it has CUDA code, the real library redirects its runtime.
void look_at_new_objects() {
  if (g_loads.exchange(loads()) == loads()) return;
  const std::string library = library_path();
  bool there = false;
  if (!needs_library(library, there)) return;
  void* real = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);  // redirects by itself when it was not there
  if (!real) give_up(::dlerror());
  auto redirect = reinterpret_cast<void (*)()>(::dlsym(real, "wg_redirect_static_runtimes"));
  if (there && redirect) redirect();
}

}  // namespace

// glibc's crti.o makes every object call this function, if there is one, before its constructors run: so it is the
// moment to redirect a library that is being opened, since nvcc's constructors register its kernels. The sanitizers'
// own libraries call it before they are ready: no checks until g_started.
extern "C" __attribute__((visibility("default"), WG_CALLED_EARLY)) void __gmon_start__() {
  if (!g_started || t_busy) return;
  t_busy = true;
  look_at_new_objects();
  t_busy = false;
}
