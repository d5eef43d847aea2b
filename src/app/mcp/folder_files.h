// Files of the folder that the server was started for. Nothing outside it is read: not by "..", not through links.
#pragma once

#include <string>

#include "base/result.h"
#include "mcp/tool.h"

namespace warpgrind::mcp {

inline constexpr std::size_t kLargestSource = 256 << 10;  // bytes of a source, as text or in a file

// Real path of a regular file in the folder. `path` is relative to the folder, or absolute and inside it.
Result<std::string> file_in_folder(const Settings& settings, const std::string& path);
// The same, and its text.
Result<std::string> text_in_folder(const Settings& settings, const std::string& path);

// The folder to be served, from the name given by the user. Empty name: the current folder, unless that is too much:
// the root, the home folder, or the folder of temporary files. Sets folder and no_folder of the settings.
Status choose_folder(const std::string& name, const std::string& home, Settings& settings);

}  // namespace warpgrind::mcp
