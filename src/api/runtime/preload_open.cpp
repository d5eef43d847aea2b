// Replacement of NVIDIA's libraries in dlopen. Clients that open them by full path (Python packages that contain them)
// get ours of that name; for clients that open them by name, LD_LIBRARY_PATH does that. If ours is missing, neither
// gets NVIDIA's.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/run_variables.h"
#include "runtime/our_libraries.h"
#include "runtime/preload_asked.h"
#include "runtime/preload_early.h"

namespace warpgrind::runtime {

PartFolders own_parts() {
  return part_folders(folder_of(reinterpret_cast<const void*>(&own_parts)));
}

void say_missing(const Part& part, const PartFolders& folders) {
  if (const char* const status = std::getenv(run_variables::kStatusFolder)) {
    std::string name = "missing-" + std::string(part.file);
    std::replace(name.begin(), name.end(), '/', '-');
    const int file = ::open((std::string(status) + "/problem." + name).c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST) return;
    if (file >= 0) ::close(file);
  }
  const std::string text =
      "warpgrind: error: " + missing_message({&part}) + "\n  " + missing_detail({&part}, folders) + "\n";
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace warpgrind::runtime

using namespace warpgrind;
using runtime::folder_of;

namespace {

// "libcufft" of "libcufft.so.12".
std::string_view stem_of(std::string_view name) {
  return name.substr(0, name.find(".so"));
}

std::string real_folder(const std::string& file) {
  char real[4096];
  return ::realpath(file.substr(0, file.rfind('/') + 1).c_str(), real) ? real : "";
}

// Our part, if the path is in our own folders. The path may be a link: toolkit/nvvm/lib64/libnvvm.so.
const Part* part_at(const std::string& file, const PartFolders& folders) {
  const std::string_view name = std::string_view(file).substr(file.rfind('/') + 1);
  for (const Part& part : kParts)
    if (part.name().find(".so") != std::string_view::npos && stem_of(part.name()) == stem_of(name) &&
        (name == part.name() || name == std::string(stem_of(name)) + ".so"))
      if (const std::string folder = real_folder(file);
          !folder.empty() && folder == real_folder(path_of(part, folders)))
        return &part;
  return nullptr;
}

// Path to open in place of the path `file`; empty: open the file itself.
std::string in_place_of_path(const std::string& file, const PartFolders& folders, const void* caller) {
  if (const Part* own = part_at(file, folders)) {
    if (!is_there(*own, folders)) runtime::say_missing(*own, folders);
    return "";
  }
  const Part* const ours = stand_in_of_any_release(std::string_view(file).substr(file.rfind('/') + 1));
  // The path may contain a link: toolkit/driver12.
  char real[4096], own[4096];
  const bool is_ours = ::realpath(file.c_str(), real) && ::realpath(folders.libraries.c_str(), own) &&
                       std::string_view(real).starts_with(std::string(own) + "/");
  if (!ours || is_ours || folder_of(caller).starts_with(folders.libraries + "/")) return "";
  // Our libnvrtc passes its calls on to NVIDIA's if there is one (cli/nvrtc_choice.h). This file is one.
  if (ours->name().starts_with("libnvrtc.so") && !std::getenv(run_variables::kOwnNvrtc))
    ::setenv(run_variables::kNvidiaNvrtc, file.substr(0, file.rfind('/')).c_str(), 0);
  if (!is_there(*ours, folders)) runtime::say_missing(*ours, folders);
  return path_of(*ours, folders);
}

// Likewise for a file name without a path. If ours exists, the loader finds it without help.
std::string in_place_of_name(const std::string& name, const PartFolders& folders) {
  const bool plain = name.ends_with(".so");
  const Part* const ours = plain ? stand_in_of_any_release(name) : stand_in(name);
  if (!ours) return "";
  const std::string path = path_of(*ours, folders);
  if (!is_there(*ours, folders)) return runtime::say_missing(*ours, folders), path;
  // An installation does not have the link NAME.so for all libraries.
  return plain && ::access((path.substr(0, path.rfind('/') + 1) + name).c_str(), R_OK) != 0 ? path : "";
}

}  // namespace

extern "C" {

__attribute__((visibility("hidden"))) void* (*wg_real_dlopen)(const char*, int) = nullptr;

__attribute__((visibility("hidden"), WG_CALLED_EARLY)) const char* wg_file_to_open(const char* file,
                                                                                   const void* caller) {
  if (!wg_real_dlopen) wg_real_dlopen = reinterpret_cast<void* (*)(const char*, int)>(::dlsym(RTLD_NEXT, "dlopen"));
  const char* const slash = file ? std::strrchr(file, '/') : nullptr;
  const char* const name = slash ? slash + 1 : file;
  if (name && runtime::is_cuda_library(name)) runtime::note_library_asked(name);
  // Fast path: most files are not NVIDIA's.
  if (!name || (!stand_in_of_any_release(name) && !(slash && std::strncmp(name, "libnvvm.so", 10) == 0))) return file;
  const PartFolders folders = runtime::own_parts();
  // If our file is missing, its path is still returned, so that dlopen()'s error names it.
  const std::string replacement = slash ? in_place_of_path(file, folders, caller) : in_place_of_name(name, folders);
  // Not a std::string: exit handlers open libraries after thread_local destructors have run.
  static thread_local char found[4096];
  if (replacement.empty() || replacement.size() >= sizeof found) return file;
  std::memcpy(found, replacement.c_str(), replacement.size() + 1);
  return found;
}

}  // extern "C"
