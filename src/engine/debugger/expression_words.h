// Splits the text of an expression into words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/arithmetic.h"

namespace warpgrind::debugger {

enum class WordKind : std::uint8_t {
  end,
  name,    // identifier
  number,  // literal value; true, false and nullptr are names
  quoted,  // 'several characters': a name or a file
  reg,     // %name or $name, `text` begins with %
  sign,    // operator or bracket
};

struct Word {
  WordKind kind = WordKind::end;
  std::string text;
  std::uint32_t begin = 0;
  Value value;  // number
};

// Error: with `detail`.
Result<std::vector<Word>> split_expression(std::string_view text, TypeTable& types);

}  // namespace warpgrind::debugger
