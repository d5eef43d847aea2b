// A job's files go into the box and come out of it through a descriptor of the folder in it, which stays when all
// processes of the box are gone. What comes out was made by the job: links, devices and pipes among it are left behind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace warpgrind::sandbox {

// The regular files and folders below `from`, as files of user `owner` (negative: of this one).
Status copy_in(const std::filesystem::path& from, int box, int owner);
// The other way. Ends quietly at `bytes` or `files`.
Status copy_out(int box, const std::filesystem::path& to, std::uint64_t bytes, int files);

}  // namespace warpgrind::sandbox
