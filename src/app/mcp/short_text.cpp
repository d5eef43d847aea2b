// Texts short enough for a model.
#include "mcp/short_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/printable.h"

namespace warpgrind::mcp {

namespace {

bool inside_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

Room room_of(const Json& arguments) {
  if (json::text(arguments, "detail") != "full") return {};
  return {.text = 32000, .output = 12000, .findings = 20, .advice = 8, .lines = 20, .kernels = 20, .opcodes = 200};
}

std::string cut(const std::string& text, std::size_t most) {
  constexpr std::size_t kMark = 60;  // bytes of the line that says what is missing
  if (text.size() <= most || most <= 2 * kMark) return text.substr(0, most);
  std::size_t begin = (most - kMark) * 2 / 3, end = text.size() - (most - kMark - begin);
  if (const std::size_t line = text.rfind('\n', begin); line != std::string::npos && line > begin / 2) begin = line + 1;
  if (const std::size_t line = text.find('\n', end); line != std::string::npos && line < end + (text.size() - end) / 2)
    end = line + 1;
  while (begin > 0 && inside_character(text[begin])) --begin;
  while (end < text.size() && inside_character(text[end])) ++end;
  return text.substr(0, begin) + fmt::format("\n[... {} characters left out ...]\n", end - begin) + text.substr(end);
}

std::string plain(const std::string& text) {
  std::string out, from = printable(text);
  for (std::size_t at = 0; at < from.size();) {
    if (from.compare(at, 2, "\x1b[") == 0) {  // printable() keeps whole colours alone
      at = std::min(from.find('m', at), from.size() - 1) + 1;
      continue;
    }
    out += from[at++];
  }
  return out;
}

std::string bullets(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += "- " + item + "\n";
  return out;
}

}  // namespace warpgrind::mcp
