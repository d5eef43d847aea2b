#include "debugger/expression_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "debugger/expression_tree.h"

namespace warpgrind::debugger {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool continues_name(char c) {
  return begins_name(c) || is_digit(c) || c == '$';
}

// Longer ones first.
constexpr std::array<std::string_view, 39> kSigns = {
    "<<=", ">>=", "->", "::", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "+",  "-",  "*",  "/",  "%",  "<",
    ">",   "=",   "!",  "~",  "&",  "|",  "^",  "?",  ":",  ".",  ",",  "@",  ";"};
constexpr std::string_view kBrackets = "()[]{}";

class Splitter {
 public:
  Splitter(std::string_view text, TypeTable& types) : text_(text), types_(types) {}

  Result<std::vector<Word>> split() {
    for (;;) {
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
      Word word;
      word.begin = static_cast<std::uint32_t>(at_);
      if (at_ == text_.size()) {
        words_.push_back(std::move(word));
        return std::move(words_);
      }
      if (Status read = next(word); !read.ok()) return read.error();
      words_.push_back(std::move(word));
    }
  }

 private:
  Error fail(std::string message) const {
    return {ErrorKind::bad_input, std::move(message), caret_line(text_, static_cast<std::uint32_t>(at_))};
  }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  Status next(Word& word) {
    const char c = peek();
    if (begins_name(c)) {
      word.kind = WordKind::name;
      word.text = take_name();
      // Words of C++ for operators.
      constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"and", "&&"}, {"or", "||"}, {"not", "!"}};
      for (const auto& [name, sign] : kWords)
        if (word.text == name) {
          word.kind = WordKind::sign;
          word.text = sign;
          break;
        }
      return Ok{};
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number(word);
    if (c == '\'') return quoted(word);
    if (c == '$' && !begins_name(peek(1))) {  // $, $$, $1, $$2: values of the history
      ++at_;
      word.kind = WordKind::reg;
      word.text = "%";
      if (peek() == '$') word.text += text_[at_++];
      while (is_digit(peek())) word.text += text_[at_++];
      return Ok{};
    }
    if (c == '$' || (c == '%' && begins_name(peek(1)) && operand_comes())) {
      ++at_;
      word.kind = WordKind::reg;
      word.text = "%" + take_name();
      if (word.text.size() == 1) return fail("a register or $lane is expected behind '$'");
      return Ok{};
    }
    word.kind = WordKind::sign;
    if (kBrackets.find(c) != std::string_view::npos) {
      word.text = std::string(1, c);
      ++at_;
      return Ok{};
    }
    for (const std::string_view sign : kSigns) {
      if (text_.substr(at_, sign.size()) != sign) continue;
      word.text = sign;
      at_ += sign.size();
      return Ok{};
    }
    if (c == '"') return fail("texts in double quotes are not supported");
    return fail("this character is not part of an expression");
  }

  // `%` begins a register where an operand is expected, and is the remainder elsewhere.
  bool operand_comes() const {
    if (words_.empty()) return true;
    const Word& last = words_.back();
    return last.kind == WordKind::sign && last.text != ")" && last.text != "]";
  }

  std::string take_name() {
    const std::size_t begin = at_;
    while (continues_name(peek())) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Status number(Word& word) {
    word.kind = WordKind::number;
    const std::size_t begin = at_;
    const bool is_hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    const bool is_binary = peek() == '0' && (peek(1) == 'b' || peek(1) == 'B');
    if (is_hex || is_binary) at_ += 2;
    bool is_floating = false;
    const std::size_t digits = at_;
    for (;; ++at_) {
      const char c = peek();
      if (is_hex ? is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') : is_digit(c)) continue;
      if (is_hex || is_binary) break;
      if (c == '.') {
        is_floating = true;
      } else if ((c == 'e' || c == 'E') &&
                 (is_digit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && is_digit(peek(2))))) {
        is_floating = true;
        ++at_;
      } else {
        break;
      }
    }
    const std::string_view spelled = text_.substr(digits, at_ - digits);
    const std::size_t suffix_begin = at_;
    std::string suffix = take_name();
    std::ranges::transform(suffix, suffix.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (is_floating || (suffix == "f" && !is_hex)) return floating(word, spelled, suffix, begin);
    const int base = is_hex ? 16 : is_binary ? 2 : spelled.size() > 1 && spelled[0] == '0' ? 8 : 10;
    std::uint64_t value = 0;
    const auto end = std::from_chars(spelled.data(), spelled.data() + spelled.size(), value, base);
    if (end.ec != std::errc() || end.ptr != spelled.data() + spelled.size()) {
      at_ = begin;
      return fail(end.ec == std::errc::result_out_of_range ? "this number has more than 64 bits"
                                                           : "this is not a number");
    }
    const bool is_unsigned = suffix.find('u') != std::string::npos, is_long = suffix.find('l') != std::string::npos;
    if (!suffix.empty() && suffix != "u" && suffix != "l" && suffix != "ul" && suffix != "lu" && suffix != "ll" &&
        suffix != "ull" && suffix != "llu") {
      at_ = suffix_begin;
      return fail("'" + suffix + "' is not an ending of a number");
    }
    // C's rule: the first type that holds the value; a decimal number without u is never unsigned.
    Builtin type = is_unsigned ? Builtin::unsigned_long : Builtin::long_int;
    if (!is_long && !is_unsigned && value <= 0x7fff'ffff) type = Builtin::int_;
    if (!is_long && value <= 0xffff'ffff && value > 0x7fff'ffff && base != 10) type = Builtin::unsigned_int;
    if (!is_long && is_unsigned && value <= 0xffff'ffff) type = Builtin::unsigned_int;
    if (value > std::numeric_limits<std::int64_t>::max()) type = Builtin::unsigned_long;
    word.value = make_number(types_, type, Number::from_unsigned(value));
    return Ok{};
  }

  Status floating(Word& word, std::string_view spelled, const std::string& suffix, std::size_t begin) {
    if (!suffix.empty() && suffix != "f" && suffix != "l") {
      at_ = begin;
      return fail("'" + suffix + "' is not an ending of a number");
    }
    const char* last = spelled.data() + spelled.size();
    double value = 0;
    std::from_chars_result end{};
    if (suffix == "f") {
      float single = 0;
      end = std::from_chars(spelled.data(), last, single);
      value = static_cast<double>(single);
    } else {
      end = std::from_chars(spelled.data(), last, value);
    }
    if (end.ec != std::errc() || end.ptr != last) {
      at_ = begin;
      return fail(end.ec == std::errc::result_out_of_range ? "this number is out of range" : "this is not a number");
    }
    word.value = make_number(types_, suffix == "f" ? Builtin::float_ : Builtin::double_, Number::from_double(value));
    return Ok{};
  }

  static int escaped(char c) {
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'a':
        return '\a';
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case '\\':
      case '\'':
      case '"':
        return c;
      default:
        return -1;
    }
  }

  // 'c', or a name with characters that names do not have.
  Status quoted(Word& word) {
    const std::size_t begin = at_;
    const std::size_t end = text_.find('\'', at_ + (peek(1) == '\\' ? 3 : 1));
    if (end == std::string_view::npos) return fail("the closing ' is missing");
    const std::string_view inside = text_.substr(begin + 1, end - begin - 1);
    at_ = end + 1;
    int value = inside.size() == 1 ? static_cast<unsigned char>(inside[0]) : -1;
    if (inside.size() == 2 && inside[0] == '\\') value = escaped(inside[1]);
    if (value < 0 && inside.size() >= 2 && inside[0] == '\\') {
      const bool is_hex = inside[1] == 'x';
      const std::string_view digits = inside.substr(is_hex ? 2 : 1);
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 8);
      if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || value > 255) {
        at_ = begin;
        return fail("this is not a character");
      }
    }
    if (inside.empty()) {
      at_ = begin;
      return fail("there is nothing between the quotes");
    }
    if (value >= 0) {
      word.kind = WordKind::number;
      word.value = make_number(types_, Builtin::character, Number::from(value));
      return Ok{};
    }
    word.kind = WordKind::quoted;
    word.text = inside;
    return Ok{};
  }

  std::string_view text_;
  TypeTable& types_;
  std::size_t at_ = 0;
  std::vector<Word> words_;
};

}  // namespace

std::string caret_line(std::string_view text, std::uint32_t begin) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return line + "\n" + std::string(std::min<std::size_t>(begin, text.size()), ' ') + "^";
}

Result<std::vector<Word>> split_expression(std::string_view text, TypeTable& types) {
  return Splitter(text, types).split();
}

}  // namespace warpgrind::debugger
