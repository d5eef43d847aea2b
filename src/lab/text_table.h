// A table of text whose empty columns disappear and whose titles break at spaces.
#pragma once

#include <string>
#include <vector>

namespace warpgrind::lab {

inline constexpr std::size_t kTextWidth = 100;  // of lines of text, and of a brief table

struct Column {
  std::string title;
  bool numbers = false;  // right-aligned
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells);  // missing cells at the end are empty
  std::string text() const;
  std::size_t width() const;            // of its longest line
  void drop(const std::string& title);  // a column; nothing if there is none of this title

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Three digits or so; empty for 0 and what is no number.
std::string figure_text(double v);
// A quotient with two decimals; empty for 0.
std::string ratio_text(double v);

// Words in lines of at most `width` characters; `first` before the first line, `next` before the others.
std::string wrapped(const std::string& text, std::size_t width, const std::string& first, const std::string& next);

}  // namespace warpgrind::lab
