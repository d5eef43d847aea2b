// NVIDIA's libraries that the process has asked dlopen for, by name without release.
#include "runtime/preload_asked.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "base/asked_libraries.h"

namespace warpgrind::runtime {

namespace {

// Without "lib".
constexpr std::string_view kNames[] = {
    "cuda",   "cudart",    "cudnn",      "cublas",       "cublasLt",   "cufft",        "cufftw",
    "curand", "cusolver",  "cusolverMg", "cusparse",     "cusparseLt", "cutensor",     "cutensorMg",
    "cufile", "cupti",     "nccl",       "nvshmem_host", "nvjpeg",     "nvrtc",        "nvJitLink",
    "nvvm",   "nvidia-ml", "nvToolsExt", "nvoptix",      "nvcuvid",    "nvidia-encode"};
// Names that begin so: libcudnn_ops, libnppc.
constexpr std::string_view kFamilies[] = {"cudnn_", "npp"};

std::string_view name_of(std::string_view file) {
  const std::size_t end = file.find(".so");
  return file.starts_with("lib") && end != std::string_view::npos ? file.substr(3, end - 3) : std::string_view();
}

struct Asked {
  std::string file;
  bool loaded = false;
};
struct AllAsked {
  std::mutex mutex;
  std::vector<Asked> libraries;
};
AllAsked& all_asked() {
  static auto* all = new AllAsked;  // never destroyed: exit handlers open libraries
  return *all;
}

}  // namespace

bool is_cuda_library(std::string_view file) {
  const std::string_view name = name_of(file);
  return !name.empty() && (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
                           std::any_of(std::begin(kFamilies), std::end(kFamilies),
                                       [&](auto family) { return name.starts_with(family); }));
}

void note_library_asked(std::string_view file) {
  AllAsked& all = all_asked();
  const std::lock_guard lock(all.mutex);
  for (const Asked& known : all.libraries)
    if (name_of(known.file) == name_of(file)) return;
  all.libraries.push_back({std::string(file), false});
}

void note_library_loaded(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (!is_cuda_library(file)) return;
  AllAsked& all = all_asked();
  const std::lock_guard lock(all.mutex);
  for (Asked& known : all.libraries) known.loaded |= name_of(known.file) == name_of(file);
}

}  // namespace warpgrind::runtime

extern "C" __attribute__((visibility("default"))) void wg_each_asked_library(void (*each)(const char*, void*),
                                                                             void* context) {
  std::vector<std::string> files;
  {
    warpgrind::runtime::AllAsked& all = warpgrind::runtime::all_asked();
    const std::lock_guard lock(all.mutex);
    for (const auto& known : all.libraries)
      if (!known.loaded) files.push_back(known.file);
  }
  for (const std::string& file : files) each(file.c_str(), context);
}
