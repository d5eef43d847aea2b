// Copies of a job's files into the box and out of it. They go through a descriptor of the box's folder, which stays
// valid after all processes of the box have ended. The job may have made links, devices and pipes: those are not copied
// out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace warpgrind::sandbox {

// Copies the regular files and folders below `from`. They will belong to user `owner` (negative: the current user).
Status copy_in(const std::filesystem::path& from, int box, int owner);
// The reverse. Stops without an error at `bytes` or `files`.
Status copy_out(int box, const std::filesystem::path& to, std::uint64_t bytes, int files);

}  // namespace warpgrind::sandbox
