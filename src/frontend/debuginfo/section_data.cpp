#include "debuginfo/section_data.h"

#include <algorithm>
#include <charconv>

namespace warpgrind::debuginfo {

namespace {

class SectionReader {
 public:
  SectionReader(std::string_view text, SectionData& data) : text_(text), data_(data) {}

  void run() {
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
      if (text_[at_] == '.') {
        const unsigned size = data_size();
        if (size == 0 || !values(size)) return fail();
      } else {
        const std::string_view label = word();
        skip_blanks();
        if (label.empty() || !accept(':')) return fail();
        data_.labels.push_back({label, data_.bytes.size()});
      }
    }
  }

 private:
  void fail() {
    data_.problem = "the text of the section is not data: '" + std::string(text_.substr(at_, 30)) + "'";
    std::replace(data_.problem.begin(), data_.problem.end(), '\n', ' ');
  }

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
      if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() - 1 : end + 1;
      } else {
        return;
      }
    }
  }

  bool accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  static bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '.' || c == '%';
  }

  std::string_view word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  unsigned data_size() {
    const std::string_view directive = word();
    if (directive == ".b8") return 1;
    if (directive == ".b16") return 2;
    if (directive == ".b32") return 4;
    return directive == ".b64" ? 8 : 0;
  }

  bool values(unsigned size) {
    do {
      skip_blanks();
      std::uint64_t number = 0;
      if (at_ < text_.size() && (text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9'))) {
        if (!integer(number)) return false;
      } else if (!symbol(size)) {
        return false;
      }
      for (unsigned i = 0; i < size; ++i) data_.bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
      skip_blanks();
    } while (accept(','));
    return true;
  }

  bool integer(std::uint64_t& number) {
    const bool negative = accept('-');
    const bool hex = text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X";
    if (hex) at_ += 2;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number, hex ? 16 : 10);
    if (error != std::errc{}) return false;
    at_ = static_cast<std::size_t>(end - text_.data());
    if (negative) number = 0 - number;
    if (at_ < text_.size() && (text_[at_] == 'U' || text_[at_] == 'u')) ++at_;
    return true;
  }

  // name {+ n} {- n} {- name}
  bool symbol(unsigned size) {
    SymbolReference reference{data_.bytes.size(), static_cast<std::uint8_t>(size), word(), {}, 0};
    if (reference.symbol.empty()) return false;
    for (;;) {
      skip_blanks();
      const bool minus = at_ < text_.size() && text_[at_] == '-';
      if (!minus && !(at_ < text_.size() && text_[at_] == '+')) break;
      ++at_;
      skip_blanks();
      std::uint64_t number = 0;
      if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
        if (!integer(number)) return false;
        reference.addend += static_cast<std::int64_t>(minus ? 0 - number : number);
      } else if (minus && reference.minus.empty()) {
        reference.minus = word();
        if (reference.minus.empty()) return false;
      } else {
        return false;
      }
    }
    data_.references.push_back(reference);
    return true;
  }

  std::string_view text_;
  SectionData& data_;
  std::size_t at_ = 0;
};

}  // namespace

const SymbolReference* SectionData::reference_at(std::uint64_t offset) const {
  const auto found = std::lower_bound(references.begin(), references.end(), offset,
                                      [](const SymbolReference& r, std::uint64_t o) { return r.offset < o; });
  return found != references.end() && found->offset == offset ? &*found : nullptr;
}

void read_section(std::string_view text, SectionData& data) {
  data.bytes.reserve(data.bytes.size() + text.size() / 6);
  SectionReader(text, data).run();
}

}  // namespace warpgrind::debuginfo
