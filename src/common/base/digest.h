// 128-bit XXH3 digest of a text, to tell texts apart. Not for secrets.
#pragma once

#include <string>
#include <string_view>

namespace warpgrind {

std::string digest(std::string_view text);  // 32 hexadecimal digits

}  // namespace warpgrind
