// Preload library, which LD_PRELOAD loads into every process of a run. It checks whether the process contains a static
// CUDA runtime. If so, it restarts the program with libcudart.so.13 preloaded, so that our functions are found first
// and the static ones are redirected. A library with a static runtime that is opened later (dlopen) is redirected
// before its constructors run. Shells and compilers of a run are hardly slowed down. Programs and libraries with the
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

#include "runtime/our_libraries.h"
#include "runtime/preload_asked.h"
#include "runtime/preload_early.h"
#include "runtime/preload_tools.h"
#include "runtime/program_image.h"

namespace {

constexpr const char* kAgain = "WARPGRIND_STARTED_AGAIN";  // process id: prevents a third start

std::string library_path() {
  return warpgrind::runtime::folder_of(reinterpret_cast<const void*>(&library_path)) + "libcudart.so.13";
}

[[noreturn]] void give_up(const std::string& why) {
  std::string text = "warpgrind: error: " + why + "\n";
  if (::write(2, text.data(), text.size()) >= 0) ::_exit(2);
  ::_exit(2);
}

// Number of objects loaded so far, including those that were closed.
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

bool g_started = false;  // the objects loaded at the start have been handled
thread_local bool t_busy = false;
std::atomic<unsigned long long> g_loads{0};

// Ends the process if the loader found NVIDIA's library because ours is missing. None of its code must run.
void refuse_in_place_of_missing(const warpgrind::runtime::LoadedObject& object) {
  const warpgrind::Part* const ours =
      warpgrind::stand_in(std::string_view(object.path).substr(object.path.rfind('/') + 1));
  if (!ours) return;
  const warpgrind::PartFolders folders = warpgrind::runtime::own_parts();
  if (warpgrind::is_there(*ours, folders)) return;
  warpgrind::runtime::say_missing(*ours, folders);
  ::_exit(2);
}

bool needs_library(const std::string& library, bool& there) {
  using warpgrind::runtime::LoadedObject;
  using warpgrind::runtime::ProgramImage;
  static bool was_there = false;  // `library` is never closed: redirected functions jump into it
  // Never destroyed: exit handlers open libraries too (the JIT, to find locations in host code).
  static auto& new_objects = *new warpgrind::runtime::NewObjects;
  bool needed = false;
  for (const LoadedObject& object : new_objects()) {
    was_there |= object.path == library;
    warpgrind::runtime::note_library_loaded(object.path);
    refuse_in_place_of_missing(object);
    if (needed) continue;
    ProgramImage image;
    needed = object.path.find("/libcudart.so") != std::string::npos ||  // another runtime, found through an RPATH
             (image.open(object.path) && (image.has_cuda_code() || image.has_static_runtime()));
  }
  there = was_there;
  return needed;
}

// Our versions, beside `library`, of NVIDIA's libraries that the program found through an RPATH; each path follows a
// ':'. Omits those already loaded: a program that opens NVIDIA's file by its full path gets both.
std::string in_place_of_nvidias(const std::string& library) {
  const std::string folder = library.substr(0, library.rfind('/') + 1);
  std::string out;
  const auto objects = warpgrind::runtime::loaded_objects();
  const auto is_there = [&](const std::string& path) {
    return std::any_of(objects.begin(), objects.end(), [&](const auto& object) { return object.path == path; });
  };
  for (const warpgrind::runtime::LoadedObject& object : objects) {
    const std::string name = object.path.substr(object.path.rfind('/') + 1);
    const warpgrind::Part* const ours = warpgrind::stand_in(name);
    if (!ours || ours->replacement != warpgrind::Replacement::at_start) continue;
    const std::string file = folder + std::string(ours->file);
    if (!is_there(file) && ::access(file.c_str(), R_OK) == 0) out += ":" + file;
  }
  return out;
}

__attribute__((constructor)) void loaded(int, char** argv, char**) {
  warpgrind::runtime::replace_tool(argv);
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

// Handles newly opened objects: if one has CUDA code, libcudart.so.13 redirects its runtime.
void look_at_new_objects() {
  if (g_loads.exchange(loads()) == loads()) return;
  const std::string library = library_path();
  bool there = false;
  if (!needs_library(library, there)) return;
  void* real = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);  // its constructor redirects when it is loaded now
  if (!real) give_up(::dlerror());
  auto redirect = reinterpret_cast<void (*)()>(::dlsym(real, "wg_redirect_static_runtimes"));
  if (there && redirect) redirect();
}

}  // namespace

// glibc's crti.o makes every object call this function, if it exists, before the object's constructors run. nvcc's
// constructors register the kernels, so this is the time to redirect a library that is being opened. Sanitizer
// libraries call it before they are initialised, so it does nothing until g_started.
extern "C" __attribute__((visibility("default"), WG_CALLED_EARLY)) void __gmon_start__() {
  if (!g_started || t_busy) return;
  t_busy = true;
  look_at_new_objects();
  t_busy = false;
}
