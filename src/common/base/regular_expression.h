// POSIX extended regular expression, as ncu and compute-sanitizer use it to select kernels.
#pragma once

#include <regex.h>

#include <string>

namespace warpgrind {

class RegularExpression {
 public:
  explicit RegularExpression(const std::string& pattern)
      : good_(regcomp(&compiled_, pattern.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}
  ~RegularExpression() {
    if (good_) regfree(&compiled_);
  }
  RegularExpression(const RegularExpression&) = delete;
  RegularExpression& operator=(const RegularExpression&) = delete;
  bool good() const { return good_; }
  // True if the expression is found anywhere in the text.
  bool matches(const std::string& text) const { return good_ && regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0; }

 private:
  regex_t compiled_{};
  bool good_;
};

}  // namespace warpgrind
