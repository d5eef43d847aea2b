// Whether a program will find our libraries where it needs NVIDIA's.
#pragma once

#include <string>

#include "base/result.h"

namespace warpgrind::cli {

// Follows what the program and its libraries name as needed (DT_NEEDED), as far as they are found: through their run
// paths, LD_LIBRARY_PATH and the system's folders. An error names each library of NVIDIA's name that ours stands in for
// and whose file is missing in our installation: the loader would take NVIDIA's own in silence. A file that is no ELF
// file (a script) needs none; the processes that it starts are looked at by libwarpgrind_preload.so.
Status check_needed_libraries(const std::string& program);

}  // namespace warpgrind::cli
