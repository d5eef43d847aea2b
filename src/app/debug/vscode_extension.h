// An extension for VS Code (a VSIX file) that makes `warpgrind dap` known as the debugger "warpgrind".
#pragma once

#include <string>

namespace warpgrind::debug {

// `program`: absolute path of warpgrind. Returns the bytes of the file, which is a ZIP archive.
std::string vscode_extension(const std::string& program, const std::string& version);

}  // namespace warpgrind::debug
