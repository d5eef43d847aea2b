// Scanner for the definitions in a CUDA source.
#include "lab/function_text.h"

#include <cctype>
#include <string>

namespace warpgrind::lab {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<LineSpan> run() {
    while (at_ < text_.size()) step();
    return std::move(found_);
  }

 private:
  bool starts(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  void skip(std::size_t n) {
    for (; n > 0 && at_ < text_.size(); --n, ++at_)
      if (text_[at_] == '\n') {
        ++line_;
        if (depth_ == transparent_ && head_.empty() && !after_comment_) comment_ = 0;
        after_comment_ = false;
        fresh_line_ = true;
      }
  }
  void skip_past(std::string_view end, std::size_t from) {
    const std::size_t found = text_.find(end, at_ + from);
    skip((found == std::string_view::npos ? text_.size() : found + end.size()) - at_);
  }

  // A comment above a head belongs to it, unless there is an empty line between them.
  void comment() {
    if (head_.empty() && fresh_line_ && comment_ == 0) comment_ = line_;
    const std::uint32_t begin = comment_;
    if (starts("//")) {
      std::size_t end = text_.find('\n', at_);
      if (end == std::string_view::npos) end = text_.size();
      skip(end - at_);
    } else {
      skip_past("*/", 2);
    }
    comment_ = begin;
    after_comment_ = true;
  }
  void directive() {
    for (bool goes_on = true; goes_on && at_ < text_.size();) {
      std::size_t end = text_.find('\n', at_);
      if (end == std::string_view::npos) end = text_.size();
      goes_on = end > at_ && text_[end - 1] == '\\';
      skip(end - at_ + 1);
    }
    comment_ = 0;
  }
  void quoted(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    skip(end + 1 - at_);
  }
  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return skip(2);
    skip_past(")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"", 2);
  }

  void step() {
    const char c = text_[at_];
    if (starts("//") || starts("/*")) return comment();
    if (c == '#' && fresh_line_) return directive();
    if (std::isspace(static_cast<unsigned char>(c)) != 0) return skip(1);
    fresh_line_ = false;
    if (depth_ == transparent_ && head_.empty()) begin_ = comment_ != 0 ? comment_ : line_;
    if (starts("R\"")) return raw_string();
    // 1'000 is no character literal.
    if (c == '"' || (c == '\'' && (at_ == 0 || std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) == 0))) {
      if (depth_ == transparent_) head_ += '"';
      return quoted(c);
    }
    if (c == '{')
      open();
    else if (c == '}')
      close();
    else if (depth_ == transparent_)
      c == ';' ? end_of_head() : void(head_ += c);
    skip(1);
  }
  void end_of_head() {
    head_.clear();
    comment_ = 0;
  }
  void open() {
    const bool inside_nothing =
        depth_ == transparent_ &&
        (head_.starts_with("namespace") || head_.starts_with("inlinenamespace") || head_.starts_with("extern\""));
    ++depth_;
    if (!inside_nothing) return;
    transparent_ = depth_;
    end_of_head();
  }
  void close() {
    if (depth_ == 0) return;
    --depth_;
    if (depth_ < transparent_) {
      transparent_ = depth_;
      end_of_head();
    } else if (depth_ == transparent_) {
      found_.push_back({begin_, line_});
      end_of_head();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1, begin_ = 1;
  std::uint32_t comment_ = 0;  // first line of the comments directly above; 0: none
  int depth_ = 0, transparent_ = 0;
  bool fresh_line_ = true, after_comment_ = false;
  std::string head_;  // text before the next brace, without blanks
  std::vector<LineSpan> found_;
};

}  // namespace

std::vector<LineSpan> definitions(std::string_view text) {
  return Scanner(text).run();
}

}  // namespace warpgrind::lab
