#include "dap/condition_text.h"

#include <fmt/format.h>

namespace warpgrind::dap {

namespace {

constexpr std::string_view kOpen = "([{", kClose = ")]}";
constexpr std::string_view kOperators = "=!<>+-*/%&|^,~.";

bool is_assignment(std::string_view text, std::size_t at) {
  const char before = at == 0 ? ' ' : text[at - 1];
  const char after = at + 1 < text.size() ? text[at + 1] : ' ';
  if (after == '=' || std::string_view("=!").find(before) != std::string_view::npos) return false;
  // <= and >= compare; <<= and >>= assign.
  if (before == '<' || before == '>') return at >= 2 && text[at - 2] == before;
  return true;
}

}  // namespace

std::string problem_of_condition(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  std::string open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') {  // a character: 'a', '\''
      const std::size_t end = text.find('\'', i + (i + 1 < text.size() && text[i + 1] == '\\' ? 3 : 2));
      if (end == std::string_view::npos) return "a quote has no end";
      i = end;
    } else if (kOpen.find(c) != std::string_view::npos) {
      open += c;
    } else if (const std::size_t kind = kClose.find(c); kind != std::string_view::npos) {
      if (open.empty() || open.back() != kOpen[kind]) return fmt::format("'{}' without '{}'", c, kOpen[kind]);
      open.pop_back();
    } else if (c == '=' && is_assignment(text, i)) {
      return "'=' assigns a value: '==' compares";
    }
  }
  if (!open.empty()) return fmt::format("'{}' is missing", kClose[kOpen.find(open.back())]);
  if (!text.empty() && kOperators.find(text.back()) != std::string_view::npos) return "a value is missing at the end";
  return {};
}

}  // namespace warpgrind::dap
