// Reading and writing of whole files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpgrind {

// Largest file that read_whole() reads unless its caller says otherwise. Profiles have a few MB. Programs and libraries
// may have more.
inline constexpr std::size_t kLargestText = 512ull << 20;
inline constexpr std::size_t kLargestProgram = 16ull << 30;

// The bytes; nullopt: cannot be read, for the reason in errno. EFBIG: more than `largest` bytes, such as /dev/zero has.
std::optional<std::string> read_whole(const std::string& path, std::size_t largest = kLargestText);

// Replaces the file's contents by these bytes; "-" is standard output. A full disk is an error, too: the message gives
// the system's reason. The bytes are written beside the file, which is then renamed: after an error it is as it was.
Status write_whole(const std::string& path, std::string_view bytes);

}  // namespace warpgrind
