// Reading and writing of whole files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpgrind {

std::optional<std::string> read_whole(const std::string& path);  // the bytes; nullopt: cannot be opened

// Replaces the file's contents by these bytes; "-" is standard output. A full disk is an error, too: the message gives
// the system's reason.
Status write_whole(const std::string& path, std::string_view bytes);

}  // namespace warpgrind
