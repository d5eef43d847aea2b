// Toolkit that compiles programs: clang, and warpgrind's headers, device library and CUDA runtime. It has no file of
// NVIDIA's.
#pragma once

#include <string>
#include <vector>

#include "base/parts.h"
#include "base/result.h"

namespace warpgrind::toolchain {

// The CUDA toolkit release whose interface our headers and libraries have. include/warpgrind/wrapper.h has the same
// numbers.
inline constexpr int kReleaseMajor = 13, kReleaseMinor = 0, kReleaseBuild = 88;

struct Toolkit {
  std::string folder;     // laid out like NVIDIA's toolkit: bin/nvcc, include, lib64
  std::string headers;    // folder/include
  std::string links;      // folder/lib64: libraries for linking programs (cmake/Toolkit.cmake)
  std::string libraries;  // libraries for running them: the folder of libcudart.so.13
  std::string device_library;
  std::string
      library_headers;  // of Thrust, CUB and libcu++, if the installation has them (scripts/portable.py); else empty
  std::string launch_pass;  // plug-in that clang loads for launches in device code
  std::string clang;
  PartFolders parts;  // for check_parts(), before a compilation or a link
};

// `path`: the value of PATH, searched for clang. It is an error if clang is missing; our own parts are not checked.
Result<Toolkit> find_toolkit(const std::string& path);
// The toolkit that belongs to a library of ours loaded in another program. `libraries`: the folder of libcudart.so.13.
Result<Toolkit> find_toolkit_of(const std::string& libraries, const std::string& path);

// Checks that our stand-ins are present for those of NVIDIA's libraries that -lNAME links, for each of these names.
// Without the check the linker would take NVIDIA's libraries, or report that there is no such library.
Status check_libraries(const Toolkit& toolkit, const std::vector<std::string>& names);

// A folder with headers of another CUDA toolkit. Makefiles name it; we take nothing from it.
bool is_foreign_toolkit(const Toolkit& toolkit, const std::string& folder);
// A ':'-separated list without such folders.
std::string without_foreign_toolkits(const Toolkit& toolkit, const std::string& list);

std::string find_program(const std::string& name, const std::string& path);  // empty: not found

}  // namespace warpgrind::toolchain
