// Files of warpgrind that a job needs to compile and run CUDA programs in a box.
#pragma once

#include <filesystem>
#include <vector>

namespace warpgrind::sandbox {

// For Job::readable: this executable, its libraries and toolkit, and the exercises. Paths in /usr are left out: a box
// has them.
std::vector<std::filesystem::path> own_files();

}  // namespace warpgrind::sandbox
