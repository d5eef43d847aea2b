// What a text is told from others by: XXH3, 128 bits. Not for secrets.
#pragma once

#include <string>
#include <string_view>

namespace warpgrind {

std::string digest(std::string_view text);  // 32 hexadecimal digits

}  // namespace warpgrind
