// What programs are compiled with: clang, our headers, our device library, our CUDA runtime. No file of NVIDIA's.
#pragma once

#include <string>
#include <vector>

#include "base/parts.h"
#include "base/result.h"

namespace warpgrind::toolchain {

// The release of the CUDA toolkit whose interface our headers and libraries have; include/warpgrind/wrapper.h says it
// too.
inline constexpr int kReleaseMajor = 13, kReleaseMinor = 0, kReleaseBuild = 88;

struct Toolkit {
  std::string folder;     // laid out as a toolkit of NVIDIA's: bin/nvcc, include, lib64
  std::string headers;    // folder/include
  std::string links;      // folder/lib64: what programs are linked with (cmake/Toolkit.cmake)
  std::string libraries;  // what they run with: the folder of libcudart.so.13
  std::string device_library;
  std::string launch_pass;  // what clang loads for launches in device code
  std::string clang;
  PartFolders parts;  // for check_parts(), before a compilation or a link
};

// path: the value of PATH, where clang is looked for. An error where clang is missing; parts of ours are not looked
// for.
Result<Toolkit> find_toolkit(const std::string& path);
// For a library of ours in some other program: the one that belongs to it. libraries: the folder of libcudart.so.13.
Result<Toolkit> find_toolkit_of(const std::string& libraries, const std::string& path);

// Whether everything is there that programs with -lNAME for each of these are linked with, of NVIDIA's libraries that
// ours stand in for. Without the check the linker would take NVIDIA's, or say that there is no such library.
Status check_libraries(const Toolkit& toolkit, const std::vector<std::string>& names);

// A folder with headers of a CUDA toolkit other than ours. Makefiles name it; nothing is taken from it.
bool is_foreign_toolkit(const Toolkit& toolkit, const std::string& folder);
// A list with ':' without those.
std::string without_foreign_toolkits(const Toolkit& toolkit, const std::string& list);

std::string find_program(const std::string& name, const std::string& path);  // empty: not there

}  // namespace warpgrind::toolchain
