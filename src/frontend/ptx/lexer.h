// Lexer of PTX: produces one token at a time, on demand. Tokens are views into the text, except for an opcode with
// blanks between its suffixes.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "ptx/ast.h"

namespace warpgrind::ptx {

enum class TokenKind : std::uint8_t {
  end,
  identifier,   // name, %register, $label, keyword
  directive,    // ".reg": a dot and a name; `text` includes the dot
  integer,      // `value`
  real,         // `value` is the bit pattern, `literal` its type
  string,       // `text` without the quotes, escapes untouched
  punctuation,  // one character: text[0]
  invalid,      // a character or literal that is not PTX; `text` shows it
};

struct Token {
  TokenKind kind = TokenKind::end;
  Literal literal = Literal::integer;
  bool is_unsigned = false;  // integer with suffix U
  std::uint32_t line = 1, column = 1;
  std::string_view text;
  std::uint64_t value = 0;

  SourceRange range() const { return {line, column, static_cast<std::uint32_t>(text.size())}; }
  bool is(char c) const { return kind == TokenKind::punctuation && text[0] == c; }
  bool is_directive(std::string_view d) const { return kind == TokenKind::directive && text == d; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();
  // Extends the identifier just returned over all following ".suffix" and "::part": an opcode with its suffixes. Blanks
  // and comments may stand before a ".suffix", and the token's text does not have them.
  void extend_opcode(Token& token);
  // The next character that is neither blank nor comment (0 at the end), and the one after it.
  char peek(char* following = nullptr);
  // True if `c` follows the last token without a blank: `.x` behind a register name.
  bool directly(char c) const { return position_ < text_.size() && text_[position_] == c; }
  // Skips to just before the next of `characters` that is outside comments and strings.
  void skip_until(std::string_view characters);
  void skip_line();

 private:
  std::size_t end_of_suffixes(std::size_t end) const;
  void skip_blanks();
  void skip_comment();
  Token number();
  Token string();
  void real_literal(Token& token, std::size_t digits, Literal literal);
  Token make(TokenKind kind, std::size_t length);

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  std::deque<std::string> joined_;  // texts of the opcodes with blanks
};

}  // namespace warpgrind::ptx
