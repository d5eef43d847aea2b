// Reading and writing of whole files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpgrind {

// The bytes; nullopt: cannot be read, for the reason in errno.
std::optional<std::string> read_whole(const std::string& path);

// Replaces the file's contents by these bytes; "-" is standard output. A full disk is an error, too: the message gives
// the system's reason. The bytes are written beside the file, which is then renamed: after an error it is as it was.
Status write_whole(const std::string& path, std::string_view bytes);

}  // namespace warpgrind
