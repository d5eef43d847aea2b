// Clients that open NVIDIA's libraries by their whole path (Python's packages, which bring them) get ours of that name.
// LD_LIBRARY_PATH is for those that open them by name.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/run_variables.h"
#include "cudart/our_libraries.h"
#include "cudart/preload_early.h"

using namespace warpgrind;
using cudart::folder_of;
using cudart::our_library;

namespace {

// FOLDER/libx.so.13.0.88, or that with fewer numbers. Empty: there is none.
std::string file_in(const std::string& folder, std::string name) {
  for (; name.find(".so") != std::string::npos; name.resize(name.rfind('.')))
    if (const std::string file = folder + name; ::access(file.c_str(), R_OK) == 0) return file;
  return {};
}

}  // namespace

extern "C" {

__attribute__((visibility("hidden"))) void* (*wg_real_dlopen)(const char*, int) = nullptr;

__attribute__((visibility("hidden"), WG_CALLED_EARLY)) const char* wg_file_to_open(const char* file,
                                                                                   const void* caller) {
  if (!wg_real_dlopen) wg_real_dlopen = reinterpret_cast<void* (*)(const char*, int)>(::dlsym(RTLD_NEXT, "dlopen"));
  const char* const slash = file ? std::strrchr(file, '/') : nullptr;
  if (!slash || !our_library(slash + 1)) return file;
  const std::string ours = folder_of(reinterpret_cast<const void*>(&wg_file_to_open));
  // Also by a link: toolkit/driver12.
  char real[4096], own[4096];
  const bool is_ours = ::realpath(file, real) && ::realpath(ours.c_str(), own) &&
                       std::string_view(real).starts_with(std::string(own) + "/");
  if (is_ours || ours.empty() || folder_of(caller).starts_with(ours)) return file;
  // Ours hands its calls over to NVIDIA's where there is one (cli/nvrtc_choice.h): this is one.
  const bool nvrtc = std::string_view(slash + 1).starts_with("libnvrtc.so");
  if (nvrtc && !std::getenv(run_variables::kOwnNvrtc))
    ::setenv(run_variables::kNvidiaNvrtc, std::string(file, slash).c_str(), 0);
  // Not a string: exit handlers open libraries after the destructors of thread_locals.
  static thread_local char found[4096];
  const std::string replacement = file_in(nvrtc ? ours + "nvrtc/" : ours, slash + 1);
  if (replacement.empty() || replacement.size() >= sizeof found) return file;
  std::memcpy(found, replacement.c_str(), replacement.size() + 1);
  return found;
}

}  // extern "C"
