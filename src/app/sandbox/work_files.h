// Copies of a job's files into the box and out of it. They go through a descriptor of the box's folder, which stays
// valid after all processes of the box have ended. The job may have made links, devices and pipes: those are not copied
// out.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace warpgrind::sandbox {

// Copies the regular files and folders below `from`. They will belong to user `owner` (negative: the current user).
Status copy_in(const std::filesystem::path& from, int box, int owner);
// The reverse, for the names in `taken` (empty: all). Files with more than limits.file_bytes are left out. Stops
// without an error at limits.disk_bytes or limits.files. Holes of a file count: they leave the box as zeros. Returns
// the paths of files that were too large.
Result<std::vector<std::string>> copy_out(int box, const std::filesystem::path& to,
                                          const std::vector<std::string>& taken, const Limits& limits);

}  // namespace warpgrind::sandbox
