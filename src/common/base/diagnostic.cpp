// Rendering of diagnostics: long lines are cut to a window around the caret.
#include "base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/element.h"

namespace warpgrind {

namespace {

constexpr std::size_t kWindow = 120;  // bytes of a long line that are shown

// The lines that the diagnostics point to, found in one pass over the text.
std::map<std::uint32_t, std::string_view> lines_of(const std::vector<Diagnostic>& diagnostics, std::size_t count,
                                                   std::string_view text) {
  std::map<std::uint32_t, std::string_view> lines;
  for (std::size_t i = 0; i < count; ++i) lines.emplace(diagnostics[i].line, std::string_view{});
  std::uint32_t line = 1;
  std::size_t start = 0;
  for (auto& [wanted, shown] : lines) {
    while (line < wanted && start < text.size()) {
      const std::size_t end = text.find('\n', start);
      start = end == std::string_view::npos ? text.size() : end + 1;
      ++line;
    }
    if (line == wanted) shown = text.substr(start, text.find('\n', start) - start);
  }
  return lines;
}

char printable(char c) {
  return (c >= ' ' && c < 127) || c == '\t' ? c : '?';
}

std::string caret_lines(const Diagnostic& d, std::string_view line) {
  std::size_t column = d.column == 0 ? 0 : d.column - 1;
  column = std::min(column, line.size());
  const std::size_t from = column > kWindow * 2 / 3 ? column - kWindow / 3 : 0;
  const std::string_view window = line.substr(from, kWindow);
  const std::string number = std::to_string(d.line);
  std::string out = fmt::format("  {} | ", number);
  for (char c : window) out += printable(c);
  out += fmt::format("\n  {} | ", std::string(number.size(), ' '));
  for (std::size_t i = from; i < column; ++i) out += line[i] == '\t' ? '\t' : ' ';
  out += '^';
  const std::size_t room = window.size() > column - from ? window.size() - (column - from) : 1;
  const std::size_t length = std::min<std::size_t>(d.length, room);
  if (length > 1) out.append(length - 1, '~');
  return out + '\n';
}

}  // namespace

std::string render(const std::vector<Diagnostic>& diagnostics, std::string_view text, std::string_view name,
                   std::size_t limit) {
  const std::size_t count = std::min(limit, diagnostics.size());
  const auto lines = lines_of(diagnostics, count, text);
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    const Diagnostic& d = diagnostics[i];
    out += fmt::format("{}:{}:{}: error: {}\n", name, d.line, d.column, d.message);
    out += caret_lines(d, element(lines, d.line));
    if (!d.hint.empty()) out += fmt::format("  hint: {}\n", d.hint);
  }
  if (diagnostics.size() > count) out += fmt::format("... and {} more\n", diagnostics.size() - count);
  return out;
}

}  // namespace warpgrind
