// Memory as text, in the formats of gdb's command x.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpgrind::debug {

struct MemoryFormat {
  std::uint64_t count = 1;
  char letter = 'x';  // x d u o t c f a s i
  unsigned size = 4;  // bytes of an element: 1, 2, 4 or 8; with f, 2 is a half
  std::uint64_t bytes() const { return count * size; }
};
// "8fw": each part is optional, and `before` gives those that are missing.
Result<MemoryFormat> read_memory_format(std::string_view text, MemoryFormat before);

// nullopt: not base64.
std::optional<std::vector<std::uint8_t>> decode_base64(std::string_view text);

// Lines "0x7f0000001000:	0	1	2	3". Bytes that could not be read end the text, with a message.
std::string memory_lines(std::uint64_t address, const std::vector<std::uint8_t>& bytes, const MemoryFormat& format);

}  // namespace warpgrind::debug
