// Reading of source files for `list` and for stops.
#include "debug/source_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace warpgrind::debug {

namespace {

constexpr int kListed = 10;  // lines

}  // namespace

Result<const std::vector<std::string>*> SourceText::read(const std::string& path) {
  if (const auto found = files_.find(path); found != files_.end()) return &found->second;
  constexpr std::size_t kLargest = std::size_t{64} << 20;
  const auto text = read_whole(path, kLargest);
  if (!text) return Error{ErrorKind::environment, fmt::format("{}: {}", path, std::strerror(errno)), ""};
  std::vector<std::string>& lines = files_[path];
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    lines.push_back(text->substr(at, end - at));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    at = end + 1;
  }
  return &lines;
}

Result<std::string> SourceText::line(const std::string& path, int number) {
  const auto lines = read(path);
  if (!lines) return lines.error();
  if (number < 1 || static_cast<std::size_t>(number) > (*lines)->size())
    return Error{ErrorKind::bad_input, fmt::format("{} has {} lines", path, (*lines)->size()), ""};
  return (**lines)[static_cast<std::size_t>(number) - 1];
}

Result<std::size_t> SourceText::line_count(const std::string& path) {
  const auto lines = read(path);
  if (!lines) return lines.error();
  return (*lines)->size();
}

Result<std::string> SourceText::lines(const std::string& path, int first, int last) {
  first = std::max(first, 1);
  const auto begin = line(path, first);
  if (!begin) return begin.error();
  std::string out;
  for (int number = first; number <= last; ++number) {
    const auto text = line(path, number);
    if (!text) break;
    out += fmt::format("{}\t{}\n", number, *text);
  }
  return out;
}

void SourceText::set_place(const std::string& path, int number) {
  path_ = path;
  place_ = number;
  first_ = last_ = 0;
}

Result<std::string> SourceText::list(const std::string& path, int first, int last) {
  const auto text = lines(path, first, last);
  if (!text) return text.error();
  path_ = path;
  first_ = std::max(first, 1);
  last_ = last;
  return *text;
}

Result<std::string> SourceText::list_on() {
  if (path_.empty()) return Error{ErrorKind::bad_input, "there is no current source file: use list FILE:LINE", ""};
  const int first = last_ != 0 ? last_ + 1 : std::max(place_ - kListed / 2, 1);
  return list(path_, first, first + kListed - 1);
}

Result<std::string> SourceText::list_back() {
  if (first_ == 0) return list_on();
  if (first_ <= 1) return Error{ErrorKind::bad_input, "Already at the start of the file.", ""};
  return list(path_, first_ - kListed, first_ - 1);
}

}  // namespace warpgrind::debug
