// Layout of text tables and wrapped lines.
#include "lab/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/assert.h"

namespace warpgrind::lab {

namespace {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) out.push_back(word);
  return out;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string blank(width > text.size() ? width - text.size() : 0, ' ');
  return right ? blank + text : text + blank;
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

void TextTable::add(std::vector<std::string> cells) {
  WG_ASSERT(cells.size() <= columns_.size());
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::size_t TextTable::width() const {
  std::istringstream lines(text());
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

void TextTable::drop(const std::string& title) {
  for (std::size_t c = columns_.size(); c-- > 0;) {
    if (columns_[c].title != title) continue;
    for (auto& row : rows_) row[c].clear();  // an empty column is not shown
  }
}

std::string TextTable::text() const {
  std::vector<std::size_t> shown, width;
  std::vector<std::vector<std::string>> titles;
  std::size_t lines = 1;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = 0;
    for (const auto& row : rows_) widest = std::max(widest, row[c].size());
    if (widest == 0) continue;
    shown.push_back(c);
    titles.push_back(columns_[c].numbers ? words(columns_[c].title) : std::vector<std::string>{columns_[c].title});
    for (const std::string& word : titles.back()) widest = std::max(widest, word.size());
    width.push_back(widest);
    lines = std::max(lines, titles.back().size());
  }
  std::string out;
  WG_ASSERT(titles.size() == shown.size() && width.size() == shown.size());
  for (std::size_t l = 0; l < lines; ++l) {
    std::string line;
    for (std::size_t i = 0; i < shown.size(); ++i) {  // titles are aligned at the bottom, above the first row
      const std::size_t blank = lines - titles[i].size();
      line += padded(l >= blank ? titles[i][l - blank] : "", width[i], columns_[shown[i]].numbers) + "  ";
    }
    append_line(out, line);
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < shown.size(); ++i)
      line += padded(row[shown[i]], width[i], columns_[shown[i]].numbers) + "  ";
    append_line(out, line);
  }
  return out;
}

std::string figure_text(double v) {
  if (v == 0 || !std::isfinite(v)) return "";
  if (v >= 1e7) return fmt::format("{:.3g}", v);
  if (v >= 100) return fmt::format("{:.0f}", v);
  if (v >= 10) return fmt::format("{:.1f}", v);
  if (v >= 0.01) return fmt::format("{:.2f}", v);
  return fmt::format("{:.1e}", v);
}

std::string ratio_text(double v) {
  return v == 0 ? "" : fmt::format("{:.2f}", v);
}

std::string wrapped(const std::string& text, std::size_t width, const std::string& first, const std::string& next) {
  std::string out, line = first;
  bool empty = true;
  for (const std::string& word : words(text)) {
    if (!empty && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = next;
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return out + line + "\n";
}

}  // namespace warpgrind::lab
