// Lexer driven by a table of character classes.
#include "ptx/lexer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "base/assert.h"

namespace warpgrind::ptx {

namespace {

enum : std::uint8_t { kBlank = 1, kNameStart = 2, kNamePart = 4, kDigit = 8, kHex = 16 };

constexpr std::array<std::uint8_t, 256> kClass = [] {
  std::array<std::uint8_t, 256> t{};
  for (int c = 'a'; c <= 'z'; ++c) t[c] = kNameStart | kNamePart;
  for (int c = 'A'; c <= 'Z'; ++c) t[c] = kNameStart | kNamePart;
  for (int c = '0'; c <= '9'; ++c) t[c] = kNamePart | kDigit | kHex;
  for (int c = 'a'; c <= 'f'; ++c) t[c] |= kHex;
  for (int c = 'A'; c <= 'F'; ++c) t[c] |= kHex;
  t['_'] = t['$'] = kNameStart | kNamePart;
  t['%'] = kNameStart;
  t[' '] = t['\t'] = t['\r'] = t['\f'] = t['\v'] = t['\n'] = kBlank;
  t[0] = kBlank;  // the text in a fatbin is NUL-terminated and padded
  return t;
}();

bool has(char c, std::uint8_t bits) {
  return kClass[static_cast<unsigned char>(c)] & bits;
}

int hex_value(char c) {
  return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

}  // namespace

void Lexer::skip_comment() {
  WG_ASSERT(position_ + 1 < text_.size() && text_[position_] == '/');
  const bool block = text_[position_ + 1] == '*';
  position_ += 2;
  if (!block) {
    const std::size_t end = text_.find('\n', position_);
    position_ = end == std::string_view::npos ? text_.size() : end;
    return;
  }
  while (position_ < text_.size()) {
    if (text_[position_] == '*' && position_ + 1 < text_.size() && text_[position_ + 1] == '/') {
      position_ += 2;
      return;
    }
    if (text_[position_] == '\n') {
      ++line_;
      line_start_ = position_ + 1;
    }
    ++position_;
  }
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (has(c, kBlank)) {
      ++position_;
      if (c == '\n') {
        ++line_;
        line_start_ = position_;
      }
    } else if (c == '/' && position_ + 1 < text_.size() &&
               (text_[position_ + 1] == '/' || text_[position_ + 1] == '*')) {
      skip_comment();
    } else if (c == '#' && position_ == line_start_) {  // a preprocessor's line marker
      const std::size_t end = text_.find('\n', position_);
      position_ = end == std::string_view::npos ? text_.size() : end;
    } else {
      return;
    }
  }
}

char Lexer::peek(char* following) {
  skip_blanks();
  if (following) *following = position_ + 1 < text_.size() ? text_[position_ + 1] : 0;
  return position_ < text_.size() ? text_[position_] : 0;
}

Token Lexer::make(TokenKind kind, std::size_t length) {
  Token t;
  t.kind = kind;
  t.line = line_;
  t.column = static_cast<std::uint32_t>(position_ - line_start_ + 1);
  t.text = text_.substr(position_, length);
  WG_DEBUG_ASSERT(position_ >= line_start_ && position_ + t.text.size() <= text_.size());
  position_ += t.text.size();
  return t;
}

Token Lexer::next() {
  skip_blanks();
  if (position_ >= text_.size()) return make(TokenKind::end, 0);
  const char c = text_[position_];
  if (has(c, kNameStart)) {
    std::size_t end = position_ + 1;
    while (end < text_.size() && has(text_[end], kNamePart)) ++end;
    return make(TokenKind::identifier, end - position_);
  }
  if (has(c, kDigit)) return number();
  if (c == '.') {
    std::size_t end = position_ + 1;
    while (end < text_.size() && has(text_[end], kNamePart)) ++end;
    if (end == position_ + 1) return make(TokenKind::punctuation, 1);
    while (end + 2 < text_.size() && text_[end] == ':' && text_[end + 1] == ':' && has(text_[end + 2], kNamePart)) {
      end += 2;
      while (end < text_.size() && has(text_[end], kNamePart)) ++end;
    }
    return make(TokenKind::directive, end - position_);
  }
  if (c == '"') return string();
  const bool known = std::string_view("{}[]()<>,;:=+-*/%!~&|^?@").find(c) != std::string_view::npos;
  return make(known ? TokenKind::punctuation : TokenKind::invalid, 1);
}

// The end of the ".suffix" and "::part" that follow without a blank.
std::size_t Lexer::end_of_suffixes(std::size_t end) const {
  for (;;) {
    std::size_t from = end;
    if (from < text_.size() && text_[from] == '.') {
      from += 1;
    } else if (from + 1 < text_.size() && text_[from] == ':' && text_[from + 1] == ':') {
      from += 2;
    } else {
      return end;
    }
    std::size_t to = from;
    while (to < text_.size() && has(text_[to], kNamePart)) ++to;
    if (to == from) return end;
    end = to;
  }
}

void Lexer::extend_opcode(Token& token) {
  const std::size_t start = static_cast<std::size_t>(token.text.data() - text_.data());
  const std::size_t old_end = start + token.text.size();  // position_ may be further, behind blanks
  WG_ASSERT(old_end <= position_ && position_ <= text_.size());
  if (const std::size_t end = end_of_suffixes(old_end); end != old_end) {
    position_ = end;
    token.text = text_.substr(start, end - start);
  }
  std::string* joined = nullptr;
  for (char following = 0; peek(&following) == '.' && has(following, kNamePart);) {
    if (!joined) joined = &joined_.emplace_back(token.text);
    const std::size_t end = end_of_suffixes(position_);
    joined->append(text_.substr(position_, end - position_));
    position_ = end;
  }
  if (joined) token.text = *joined;
}

Token Lexer::string() {
  std::size_t end = position_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n')
    end += text_[end] == '\\' && end + 1 < text_.size() ? 2 : 1;
  if (end >= text_.size() || text_[end] != '"')
    return make(TokenKind::invalid, std::min(end, text_.size()) - position_);
  Token t = make(TokenKind::string, end + 1 - position_);
  t.text = t.text.substr(1, t.text.size() - 2);
  return t;
}

void Lexer::real_literal(Token& token, std::size_t digits, Literal literal) {
  WG_ASSERT(token.text.size() >= 2);
  const std::string_view hex = token.text.substr(2);
  if (hex.size() != digits) {
    token.kind = TokenKind::invalid;
    return;
  }
  for (char c : hex) {
    if (!has(c, kHex)) {
      token.kind = TokenKind::invalid;
      return;
    }
    token.value = token.value << 4 | static_cast<unsigned>(hex_value(c));
  }
  token.kind = TokenKind::real;
  token.literal = literal;
}

Token Lexer::number() {
  std::size_t end = position_;
  while (end < text_.size() && has(text_[end], kNamePart)) ++end;
  const auto is_sign = [&](std::size_t i) { return i < text_.size() && (text_[i] == '+' || text_[i] == '-'); };
  std::string_view word = text_.substr(position_, end - position_);
  const char second = word.size() > 1 ? static_cast<char>(word[1] | 0x20) : '\0';
  const bool prefixed = word[0] == '0' && (second == 'x' || second == 'b' || second == 'f' || second == 'd');
  const bool fraction = !prefixed && end + 1 < text_.size() && text_[end] == '.' && has(text_[end + 1], kDigit);
  const bool exponent = !prefixed && word.find_first_of("eE") != std::string_view::npos;
  if (fraction || exponent ||
      (!prefixed && end < text_.size() && text_[end] == '.' &&
       !has(text_[std::min(end + 1, text_.size() - 1)], kNameStart))) {
    if (!exponent && end < text_.size() && text_[end] == '.') {
      ++end;
      while (end < text_.size() && has(text_[end], kNamePart)) ++end;
    }
    if ((text_[end - 1] | 0x20) == 'e' && is_sign(end)) {
      ++end;
      while (end < text_.size() && has(text_[end], kDigit)) ++end;
    }
    Token t = make(TokenKind::real, end - position_);
    double value = 0;
    const auto [rest, failure] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
    const bool range = failure == std::errc::result_out_of_range;
    if ((failure != std::errc{} && !range) || rest != t.text.data() + t.text.size()) t.kind = TokenKind::invalid;
    t.literal = Literal::f64;
    t.value = std::bit_cast<std::uint64_t>(value);
    return t;
  }
  Token t = make(TokenKind::integer, word.size());
  if (prefixed && second == 'f') return real_literal(t, 8, Literal::f32), t;
  if (prefixed && second == 'd') return real_literal(t, 16, Literal::f64), t;
  if (word.back() == 'U' || word.back() == 'u') {
    t.is_unsigned = true;
    word.remove_suffix(1);
  }
  int base = 10;
  if (prefixed) {
    base = second == 'x' ? 16 : 2;
    word.remove_prefix(2);
  } else if (word.size() > 1 && word[0] == '0') {
    base = 8;
  }
  const auto [rest, failure] = std::from_chars(word.data(), word.data() + word.size(), t.value, base);
  if (failure != std::errc{} || rest != word.data() + word.size() || word.empty()) t.kind = TokenKind::invalid;
  if (t.value >> 63) t.is_unsigned = true;
  return t;
}

void Lexer::skip_line() {
  position_ = std::min(text_.find('\n', position_), text_.size());
}

void Lexer::skip_until(std::string_view characters) {
  for (;;) {
    skip_blanks();
    if (position_ >= text_.size() || characters.find(text_[position_]) != std::string_view::npos) return;
    if (text_[position_] == '"') {
      string();
    } else {
      ++position_;
    }
  }
}

}  // namespace warpgrind::ptx
