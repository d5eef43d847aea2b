#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace warpgrind {

namespace {

constexpr char kEscape = '\x1b';

bool is_plain(char c) {
  return (c >= ' ' && c <= '~') || c == '\n' || c == '\t';
}

// Length of a colour at the beginning of `text`; 0: another sequence.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

struct Character {
  char32_t code = 0;
  std::size_t length = 0;  // 0: not UTF-8
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t code = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, length};
}

bool is_harmful(char32_t code) {
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;  // C0 and C1: 0x9b begins a sequence, as ESC [ does
  return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    std::size_t length = 1;
    if (is_plain(text[0])) {
      out += text[0];
    } else if (text.starts_with("\r\n")) {
      out += text.substr(0, length = 2);
    } else if (text[0] == kEscape && colour_length(text) != 0) {
      out += text.substr(0, length = colour_length(text));
    } else if (const Character character = first_character(text); character.length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text[0]));
    } else {
      length = character.length;
      const auto code = static_cast<std::uint32_t>(character.code);
      if (!is_harmful(character.code))
        out += text.substr(0, length);
      else
        out += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    }
    text.remove_prefix(length);
  }
  return out;
}

void print_text(std::FILE* out, std::string_view text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), out);  // in one piece: other processes may write there, too
}

}  // namespace warpgrind
