// Check that a program will find our libraries in place of NVIDIA's.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::cli {

// Follows the libraries that the program and its libraries need (DT_NEEDED), as far as they are found: through run
// paths, LD_LIBRARY_PATH and the system's folders. An error names each of NVIDIA's libraries that ours stands in for
// but whose file is missing in our installation: the loader would silently take NVIDIA's own. A file that is not ELF (a
// script) needs none; libwarpgrind_preload.so checks the processes that it starts.
Status check_needed_libraries(const std::string& program);

// NVIDIA's libraries without counterpart here (base/absent_libraries.h) that the program or its libraries need, and
// that are in none of these folders. The loader does not start such a program.
std::vector<std::string> absent_libraries(const std::string& program);

}  // namespace warpgrind::cli
