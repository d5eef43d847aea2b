#include "base/library_headers.h"

#include <algorithm>
#include <array>

namespace warpgrind {

namespace {

// Folders at the start of a path. Not all of /usr and /opt: programs are also built in /usr/src/app and /opt/app.
constexpr std::array<std::string_view, 7> kRoots = {
    "/usr/include/",   "/usr/lib/",       "/usr/lib64/", "/usr/local/include/",
    "/usr/local/lib/", "/usr/local/cuda", "/opt/cuda"};

// Folders anywhere in a path: toolkits of conda, pip and NVIDIA's HPC SDK, clang's headers, and ours in a build folder
// (build/toolkit) or an installation (lib/warpgrind).
constexpr std::array<std::string_view, 14> kFolders = {"/targets/x86_64-linux/include/",
                                                       "/targets/sbsa-linux/include/",
                                                       "/cuda/include/",
                                                       "/nvidia/cuda_runtime/include/",
                                                       "/nvidia/cu13/include/",
                                                       "/lib/clang/",
                                                       "/toolkit/include/",
                                                       "/lib/warpgrind/include/",
                                                       "/include/crt/",
                                                       "/include/cooperative_groups",
                                                       "/include/warpgrind/",
                                                       "/include/cccl/",
                                                       "/include/cub/",
                                                       "/include/thrust/"};

// Headers with device functions in any folder: "cuda_fp16.h", "cuda_fp16.hpp".
constexpr std::array<std::string_view, 11> kNames = {"cuda_fp16",
                                                     "cuda_bf16",
                                                     "cuda_fp8",
                                                     "cuda_fp6",
                                                     "cuda_fp4",
                                                     "sm_20_intrinsics",
                                                     "sm_30_intrinsics",
                                                     "sm_32_intrinsics",
                                                     "sm_61_intrinsics",
                                                     "cuda_pipeline_primitives",
                                                     "device_atomic_functions"};

bool has_known_name(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || !name.substr(dot).starts_with(".h")) return false;
  return std::find(kNames.begin(), kNames.end(), name.substr(0, dot)) != kNames.end() ||
         (name.starts_with("sm_") && name.substr(0, dot).ends_with("_atomic_functions"));
}

// libcu++: include/cuda/std/..., include/cuda/__atomic/..., include/cuda/barrier. A program's own folder include/cuda
// has files with a suffix.
bool is_libcudacxx(std::string_view file) {
  constexpr std::string_view kFolder = "/include/cuda/";
  const std::size_t at = file.find(kFolder);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = file.substr(at + kFolder.size());
  return rest.starts_with("std/") || rest.starts_with("__") || rest.find('.') == std::string_view::npos;
}

}  // namespace

bool is_library_header(std::string_view file) {
  return std::any_of(kRoots.begin(), kRoots.end(), [&](std::string_view root) { return file.starts_with(root); }) ||
         std::any_of(kFolders.begin(), kFolders.end(),
                     [&](std::string_view folder) { return file.find(folder) != std::string_view::npos; }) ||
         has_known_name(file) || is_libcudacxx(file);
}

}  // namespace warpgrind
