#include "toolchain/toolkit.h"

#include <unistd.h>

#include <filesystem>
#include <string_view>

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

Result<Toolkit> find_parts(const std::string& folder, const std::string& libraries, const std::string& path) {
  Toolkit out;
  out.folder = folder;
  out.headers = out.folder + "/include";
  out.links = out.folder + "/lib64";
  out.libraries = libraries;
  std::error_code problem;
  if (!fs::exists(out.headers + "/cuda_runtime.h", problem) || !fs::exists(out.links, problem))
    return Error{ErrorKind::environment, "warpgrind's headers are not where they belong",
                 "looked in " + out.headers + "; build or install warpgrind again"};
  if (const std::string bitcode = out.libraries + "/libdevice.bc"; fs::exists(bitcode, problem))
    out.device_library = bitcode;
  if (const std::string pass = out.libraries + "/launch_pass.so"; fs::exists(pass, problem)) out.launch_pass = pass;
  for (const char* name : {"clang++-19", "/usr/lib/llvm-19/bin/clang++"})
    if (out.clang.empty()) out.clang = find_program(name, path);
  if (out.clang.empty())
    return Error{ErrorKind::environment, "clang++-19 is not installed", "Debian has it: apt-get install clang-19"};
  return out;
}

}  // namespace

Result<Toolkit> find_toolkit(const std::string& path) {
  auto library = runtime_library();
  if (!library) return library.error();
  return find_parts(toolkit_folder(), fs::path(*library).parent_path().string(), path);
}

Result<Toolkit> find_toolkit_of(const std::string& libraries, const std::string& path) {
  std::error_code problem;
  // An installation has the headers among its libraries, a build beside them.
  const bool installed = fs::is_directory(libraries + "/include", problem);
  const fs::path folder = installed ? fs::path(libraries) : fs::path(libraries).parent_path() / "toolkit";
  return find_parts(folder.string(), libraries, path);
}

bool is_foreign_toolkit(const Toolkit& toolkit, const std::string& folder) {
  std::error_code problem;
  // Packages bring along NVIDIA's half types alone, which are for NVIDIA's compilers.
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
