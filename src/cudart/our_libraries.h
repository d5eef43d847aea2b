// The libraries of NVIDIA's that ours stand in for, for warpgrind_preload, which links nothing.
#pragma once

#include <dlfcn.h>

#include <string>
#include <string_view>

namespace warpgrind::cudart {

struct OurLibrary {
  std::string_view name;
  // A program that is linked with NVIDIA's by its path starts again with ours before it. The runtime does so by rules
  // of its own; the compilers may be NVIDIA's (run_variables::kNvidiaNvrtc).
  bool at_start;
};
inline constexpr OurLibrary kOurLibraries[] = {
    {"libcuda.so", true},       {"libnvidia-ml.so", true}, {"libcudart.so", false},  {"libnvrtc.so", false},
    {"libnvJitLink.so", false}, {"libcublas.so", true},    {"libcublasLt.so", true}, {"libcufft.so", true},
    {"libcurand.so", true},     {"libcusparse.so", true}};

// By the name of a file, which may end with a version. Null: none of them.
inline const OurLibrary* our_library(std::string_view file) {
  for (const OurLibrary& library : kOurLibraries)
    if (file.starts_with(library.name) && (file.size() == library.name.size() || file[library.name.size()] == '.'))
      return &library;
  return nullptr;
}

// Of the object that this address is in, with a '/' at its end. Empty: of none, or without a path.
inline std::string folder_of(const void* address) {
  Dl_info info{};
  if (!::dladdr(address, &info) || !info.dli_fname) return {};
  const std::string_view path = info.dli_fname;
  return std::string(path.substr(0, path.rfind('/') + 1));
}

}  // namespace warpgrind::cudart
