// Lookup of warpgrind's files from /proc/self/exe and the loader's list of libraries.
#include "base/installation.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace warpgrind {

namespace {

namespace fs = std::filesystem;

fs::path root() {
  return fs::path(own_executable()).parent_path().parent_path();
}

}  // namespace

std::string own_executable() {
  std::error_code problem;
  return fs::read_symlink("/proc/self/exe", problem).string();
}

std::string typed_executable() {
  std::error_code problem;
  const fs::path own = own_executable();
  const char* path = std::getenv("PATH");
  std::stringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (fs::equivalent(fs::path(folder) / own.filename(), own, problem)) return own.filename().string();
  const fs::path near = fs::relative(own, problem);
  const bool below = !problem && !near.empty() && *near.begin() != "..";
  return below ? near.string() : own.string();
}

PartFolders own_parts() {
  std::error_code problem;
  const fs::path installed = root() / "lib" / "warpgrind";
  return part_folders(fs::is_directory(installed, problem) ? installed.string() : (root() / "lib").string());
}

Error missing_parts(const std::vector<const Part*>& missing, const PartFolders& folders) {
  return {ErrorKind::environment, missing_message(missing), missing_detail(missing, folders)};
}

Status check_parts(const PartFolders& folders, std::initializer_list<NeededBy> kinds) {
  std::vector<const Part*> missing;
  for (const Part& part : kParts)
    if (std::find(kinds.begin(), kinds.end(), part.needed_by) != kinds.end() && !is_there(part, folders))
      missing.push_back(&part);
  if (missing.empty()) return Ok{};
  return missing_parts(missing, folders);
}

Status check_parts_to_compile_and_run() {
  return check_parts(own_parts(), {NeededBy::every_run, NeededBy::every_compilation, NeededBy::every_link});
}

Result<std::string> runtime_library() {
  const PartFolders folders = own_parts();
  const Part& runtime = *stand_in("libcudart.so.13");
  if (is_there(runtime, folders)) return path_of(runtime, folders);
  return missing_parts({&runtime}, folders);
}

Result<std::string> library_of_ours(const std::string& name) {
  Dl_info info{};
  link_map* map = nullptr;
  fs::path own;
  if (::dladdr1(reinterpret_cast<void*>(&library_of_ours), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0)
    own = map->l_name;
  if (own.empty()) own = own_executable();  // the loader has no name for the executable
  const fs::path folder = own.parent_path();
  std::error_code problem;
  for (const fs::path& f : {folder, folder.parent_path() / "lib" / "warpgrind", folder.parent_path() / "lib"})
    if (fs::exists(f / name, problem)) return (f / name).string();
  const PartFolders folders = map && *map->l_name ? part_folders(folder.string()) : own_parts();
  for (const Part& part : kParts)
    if (part.file == name) return missing_parts({&part}, folders);
  return Error{ErrorKind::environment, name + " of warpgrind is not where it belongs",
               "looked beside " + own.string() + "; build or install warpgrind again"};
}

std::string lab_folder() {
  std::error_code ignored;
  const fs::path installed = root() / "lib" / "warpgrind" / "lab";
  return fs::is_directory(installed, ignored) ? installed.string() : (root() / "lab").string();
}

std::string exercises_folder() {
  std::error_code ignored;
  const fs::path installed = root() / "lib" / "warpgrind" / "exercises";
  return fs::is_directory(installed, ignored) ? installed.string() : (root() / "exercises").string();
}

std::string toolkit_folder() {
  return own_parts().toolkit;
}

namespace {

std::string before_old_value(const char* variable, const std::string& value) {
  const char* old = std::getenv(variable);
  return old && *old ? value + ":" + old : value;
}

constexpr const char* kLibraryPath = "LD_LIBRARY_PATH";

}  // namespace

void prepend_to_environment(const char* variable, const std::string& value) {
  setenv(variable, before_old_value(variable, value).c_str(), 1);
}

void append_to_environment(const char* variable, const std::string& value) {
  const char* old = std::getenv(variable);
  setenv(variable, old && *old ? (std::string(old) + ":" + value).c_str() : value.c_str(), 1);
}

void put_first_in_library_path(const std::string& library) {
  prepend_to_environment(kLibraryPath, fs::path(library).parent_path().string());
}

std::string library_path_with(const std::string& library) {
  return std::string(kLibraryPath) + "=" + before_old_value(kLibraryPath, fs::path(library).parent_path().string());
}

}  // namespace warpgrind
