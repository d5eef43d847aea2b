// Reading of whole files.
#pragma once

#include <optional>
#include <string>

namespace warpgrind {

std::optional<std::string> read_whole(const std::string& path);  // the bytes; nullopt: cannot be opened

}  // namespace warpgrind
