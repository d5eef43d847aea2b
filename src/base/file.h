// Whole files.
#pragma once

#include <optional>
#include <string>

namespace warpgrind {

std::optional<std::string> read_whole(const std::string& path);  // as bytes; nullopt: it cannot be opened

}  // namespace warpgrind
