// Escaping of text for XML.
#pragma once

#include <string>
#include <string_view>

namespace warpgrind::report {

// For attributes and contents. XML 1.0 cannot represent most control characters; they become blanks.
std::string escaped(std::string_view text);

}  // namespace warpgrind::report
