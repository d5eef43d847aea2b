// Search for NVIDIA's libnvrtc, and the environment variables that make a program's choice.
#include "cli/nvrtc_choice.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "base/installation.h"
#include "base/run_variables.h"
#include "cli/commands.h"
#include "cli/compile_program.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraries[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr const char* kOurFolder = "nvrtc";  // beside libcudart.so.13

std::string our_folder(const std::string& library) {
  return (fs::path(library).parent_path() / kOurFolder).string();
}

// Our toolkit folder is laid out like NVIDIA's, and has links to our libraries.
bool is_ours(const fs::path& file) {
  std::error_code none;
  auto library = runtime_library();
  return library && fs::canonical(file, none).parent_path() == fs::canonical(our_folder(*library), none);
}

std::string library_in(const std::string& folder) {
  std::error_code none;
  for (const char* name : kLibraries)
    if (const fs::path file = fs::path(folder) / name; fs::exists(file, none) && !is_ours(file)) return file.string();
  return "";
}

std::vector<std::string> folders() {
  std::vector<std::string> out;
  std::istringstream path(environment_variable("LD_LIBRARY_PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (!folder.empty()) out.push_back(folder);
  std::vector<std::string> toolkits = {environment_variable("CUDA_HOME"), environment_variable("CUDA_PATH")};
  std::error_code none;
  if (const std::string nvcc = find_in_path("nvcc"); !nvcc.empty())
    toolkits.push_back(fs::canonical(nvcc, none).parent_path().parent_path().string());
  toolkits.emplace_back("/usr/local/cuda");
  for (const std::string& toolkit : toolkits)
    for (const char* folder : {"/lib64", "/targets/x86_64-linux/lib"})
      if (!toolkit.empty()) out.push_back(toolkit + folder);
  return out;
}

// Searches /etc/ld.so.conf and the other folders that the loader knows.
std::string known_to_loader() {
  std::string out;
  for (const char* name : kLibraries) {
    void* const handle = out.empty() ? dlopen(name, RTLD_LAZY | RTLD_LOCAL) : nullptr;
    if (!handle) continue;
    const link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && !is_ours(map->l_name)) out = map->l_name;
    dlclose(handle);
  }
  return out;
}

// Searches LD_LIBRARY_PATH, the toolkit of CUDA_HOME, CUDA_PATH, nvcc or /usr/local/cuda, and the loader's folders.
std::string nvidia_nvrtc() {
  for (const std::string& folder : folders())
    if (std::string found = library_in(folder); !found.empty()) return found;
  return known_to_loader();
}

}  // namespace

Status choose_nvrtc(const std::string& which, const std::string& library) {
  const fs::path theirs = nvidia_nvrtc();
  prepend_to_environment("LD_LIBRARY_PATH", our_folder(library));
  const fs::path found = which == "ours" ? "" : theirs;
  // Set for both choices: a program with NVIDIA's LTO IR has NVIDIA's libraries, which are in one folder.
  setenv(run_variables::kNvidiaJitLink, theirs.parent_path().c_str(), 1);
  if (found.empty() && which == "nvidia")
    return Error{ErrorKind::environment, "NVIDIA's libnvrtc is not installed",
                 "set CUDA_HOME to its toolkit, or use --nvrtc ours, which needs only clang"};
  if (which == "ours")
    setenv(run_variables::kOwnNvrtc, "1", 1);
  else
    unsetenv(run_variables::kOwnNvrtc);
  if (found.empty())
    unsetenv(run_variables::kNvidiaNvrtc);
  else
    setenv(run_variables::kNvidiaNvrtc, found.parent_path().c_str(), 1);
  return Ok{};
}

std::string chosen_nvrtc() {
  if (const std::string file = nvidia_nvrtc(); !file.empty()) return "NVIDIA's, " + file;
  auto library = runtime_library();
  return library ? fmt::format("warpgrind's, {}/{}", our_folder(*library), kLibraries[0]) : "";
}

}  // namespace warpgrind::cli
