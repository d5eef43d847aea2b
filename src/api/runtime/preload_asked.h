// List of NVIDIA's libraries that the process has asked dlopen for (base/asked_libraries.h). In the preload library.
// Thread-safe.
#pragma once

#include <string_view>

namespace warpgrind::runtime {

// True for a file name of one of NVIDIA's libraries of CUDA: "libcudnn.so.9". Allocates nothing.
bool is_cuda_library(std::string_view file);
void note_library_asked(std::string_view file);
// The loader has loaded this object.
void note_library_loaded(std::string_view path);

}  // namespace warpgrind::runtime
