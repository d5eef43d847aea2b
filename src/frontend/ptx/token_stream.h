// Current token, diagnostics, and the basic steps of all parsing functions. Functions that return bool record a
// diagnostic and return false on an error; the caller of the statement then recovers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "ptx/lexer.h"

namespace warpgrind::ptx {

// Value of a constant expression.
struct Constant {
  Literal literal = Literal::integer;
  bool is_unsigned = false;
  std::uint64_t bits = 0;
  std::int64_t as_signed() const { return static_cast<std::int64_t>(bits); }
};

class TokenStream {
 public:
  explicit TokenStream(std::string_view text) : lexer_(text) { advance(); }

  const Token& token() const { return token_; }
  Token& token() { return token_; }
  Lexer& lexer() { return lexer_; }
  void advance() { token_ = lexer_.next(); }

  bool accept(char c);
  bool accept_directive(std::string_view directive);
  bool accept_word(std::string_view word);
  bool expect(char c, const char* after);
  bool expect_name(Token& name, const char* what);
  bool integer(std::uint64_t& value, const char* what);
  bool constant(Constant& value);  // a constant expression

  bool error(const SourceRange& range, std::string message, std::string hint = {});
  bool unexpected(const char* expected);  // reports the current token
  // True after too many diagnostics: the rest of the text is not worth reading.
  bool gave_up() const { return diagnostics_.size() >= kMostDiagnostics; }

  // Skips to behind the next ';', or to before the '}' that closes the current block.
  void recover_statement();
  // Skips to behind the next ';' outside braces, or behind the closing brace of the next block.
  void recover_declaration();

  std::vector<Diagnostic>& diagnostics() { return diagnostics_; }

 private:
  static constexpr std::size_t kMostDiagnostics = 100;
  static constexpr unsigned kDeepestExpression = 100;

  bool unary(Constant& value, unsigned depth);
  bool binary(Constant& value, int least_precedence, unsigned depth);
  bool conditional(Constant& value, unsigned depth);
  bool operator_at_token(std::string_view& text, int& precedence);

  Lexer lexer_;
  Token token_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace warpgrind::ptx
