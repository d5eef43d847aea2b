// Search for the toolkit: clang, our own parts, and foreign CUDA toolkits in lists of folders.
#include "toolchain/toolkit.h"

#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/installation.h"

namespace warpgrind::toolchain {

namespace fs = std::filesystem;

std::string find_program(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  std::string_view rest = path;
  while (!rest.empty()) {
    const auto end = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return "";
}

namespace {

Result<Toolkit> find_toolkit_in(const PartFolders& parts, const std::string& path) {
  Toolkit out;
  out.parts = parts;
  out.folder = parts.toolkit;
  out.headers = out.folder + "/include";
  out.links = out.folder + "/lib64";
  out.libraries = parts.libraries;
  out.device_library = out.libraries + "/libdevice.bc";
  out.launch_pass = out.libraries + "/launch_pass.so";
  std::error_code problem;
  if (const std::string headers = out.libraries + "/headers"; fs::is_directory(headers, problem))
    out.library_headers = headers;
  // An installation's own clang is the one whose LLVM launch_pass.so was built for.
  for (const std::string& name :
       {out.libraries + "/llvm/bin/clang++", std::string("clang++-19"), std::string("/usr/lib/llvm-19/bin/clang++")})
    if (out.clang.empty()) out.clang = find_program(name, path);
  if (out.clang.empty())
    return Error{ErrorKind::environment, "clang++-19 is not installed", "Debian has it: apt-get install clang-19"};
  return out;
}

}  // namespace

Result<Toolkit> find_toolkit(const std::string& path) {
  return find_toolkit_in(own_parts(), path);
}

Result<Toolkit> find_toolkit_of(const std::string& libraries, const std::string& path) {
  return find_toolkit_in(part_folders(libraries), path);
}

Status check_libraries(const Toolkit& toolkit, const std::vector<std::string>& names) {
  std::vector<const Part*> missing;
  for (const std::string& name : names) {
    const std::string file = "lib" + name + ".so";
    const Part* const library = stand_in_of_any_release(file);
    if (library && !is_there(*library, toolkit.parts)) {
      missing.push_back(library);  // its links lead nowhere then
      continue;
    }
    for (const Part& part : kParts)
      if (library && part.folder == PartFolder::toolkit && part.name() == file && !is_there(part, toolkit.parts))
        missing.push_back(&part);
  }
  if (missing.empty()) return Ok{};
  return missing_parts(missing, toolkit.parts);
}

bool is_foreign_toolkit(const Toolkit& toolkit, const std::string& folder) {
  std::error_code problem;
  // Some packages contain NVIDIA's half types only, which need NVIDIA's compilers.
  if (!fs::exists(folder + "/cuda_runtime.h", problem) && !fs::exists(folder + "/cuda_fp16.hpp", problem)) return false;
  return !fs::equivalent(folder, toolkit.headers, problem);
}

std::string without_foreign_toolkits(const Toolkit& toolkit, const std::string& list) {
  std::string out;
  std::string_view rest = list;
  while (!rest.empty()) {
    const auto end = rest.find(':');
    const std::string folder(rest.substr(0, end));
    if (!is_foreign_toolkit(toolkit, folder)) out += (out.empty() ? "" : ":") + folder;
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return out;
}

}  // namespace warpgrind::toolchain
