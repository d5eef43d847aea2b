// Error message about a text from the user: position, problem and hint. It is printed with the line and a caret under
// the position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpgrind {

struct Diagnostic {
  std::uint32_t line = 0;    // 1-based
  std::uint32_t column = 0;  // 1-based, in bytes
  std::uint32_t length = 1;  // bytes underlined
  std::string message;
  std::string hint;  // a further line, may be empty
};

inline constexpr std::size_t kShownDiagnostics = 20;

// "NAME:LINE:COLUMN: error: MESSAGE", the line, a caret and the hint, for the first `limit` diagnostics.
std::string render(const std::vector<Diagnostic>& diagnostics, std::string_view text, std::string_view name,
                   std::size_t limit = kShownDiagnostics);

}  // namespace warpgrind
