// Text table that drops empty columns and breaks titles at spaces.
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
  std::size_t width() const;            // of the longest line
  void drop(const std::string& title);  // removes a column; no effect if there is none of this title

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// About three significant digits; empty for 0 and for values that are not finite.
std::string figure_text(double v);
// A quotient with two decimals; empty for 0.
std::string ratio_text(double v);

// Words in lines of at most `width` characters. The first line begins with `first`, the others with `next`.
std::string wrapped(const std::string& text, std::size_t width, const std::string& first, const std::string& next);

}  // namespace warpgrind::lab
