// Interface between the preload library, which sees each dlopen of a process, and libcudart.so.13: NVIDIA's libraries
// that the process has asked for.
#pragma once

namespace warpgrind {

// Exported by the preload library. Calls `each` for the first file name of each of NVIDIA's libraries that dlopen was
// called with, in that order, except for those whose constructors have run since.
inline constexpr const char* kEachAskedLibrary = "wg_each_asked_library";
using EachAskedLibrary = void (*)(void (*each)(const char* file, void* context), void* context);

}  // namespace warpgrind
