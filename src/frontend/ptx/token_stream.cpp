// Token stream: evaluation of constant expressions, and recovery after errors.
#include "ptx/token_stream.h"

#include <fmt/format.h>

namespace warpgrind::ptx {

bool TokenStream::accept(char c) {
  if (!token_.is(c)) return false;
  advance();
  return true;
}

bool TokenStream::accept_directive(std::string_view directive) {
  if (!token_.is_directive(directive)) return false;
  advance();
  return true;
}

bool TokenStream::accept_word(std::string_view word) {
  if (token_.kind != TokenKind::identifier || token_.text != word) return false;
  advance();
  return true;
}

bool TokenStream::error(const SourceRange& range, std::string message, std::string hint) {
  if (!gave_up()) {
    diagnostics_.push_back({range.line, range.column, range.length, std::move(message), std::move(hint)});
  }
  return false;
}

bool TokenStream::unexpected(const char* expected) {
  constexpr std::size_t kShown = 60;
  if (token_.kind == TokenKind::end)
    return error(token_.range(), fmt::format("the text ends where {} should follow", expected));
  std::string shown(token_.text.substr(0, kShown));
  for (char& c : shown)
    if (c < ' ' || c == 127) c = '?';
  if (token_.kind == TokenKind::invalid)
    return error(token_.range(), fmt::format("'{}' is no valid PTX; expected {}", shown, expected));
  return error(token_.range(), fmt::format("expected {}, found '{}'", expected, shown));
}

bool TokenStream::expect(char c, const char* after) {
  if (token_.is(c)) {
    advance();
    return true;
  }
  return unexpected(fmt::format("'{}' after {}", c, after).c_str());
}

bool TokenStream::expect_name(Token& name, const char* what) {
  if (token_.kind != TokenKind::identifier) return unexpected(what);
  name = token_;
  advance();
  return true;
}

bool TokenStream::integer(std::uint64_t& value, const char* what) {
  if (token_.kind != TokenKind::integer) return unexpected(what);
  value = token_.value;
  advance();
  return true;
}

void TokenStream::recover_statement() {
  unsigned depth = 0;
  for (; token_.kind != TokenKind::end; advance()) {
    if (token_.is(';')) return advance();
    if (token_.is('{')) ++depth;
    if (token_.is('}')) {
      if (depth == 0) return;
      --depth;
    }
  }
}

void TokenStream::recover_declaration() {
  unsigned depth = 0;
  for (; token_.kind != TokenKind::end; advance()) {
    if (token_.is(';') && depth == 0) return advance();
    if (token_.is('{')) ++depth;
    if (token_.is('}') && (depth == 0 || --depth == 0)) return advance();
  }
}

bool TokenStream::constant(Constant& value) {
  return conditional(value, 0);
}

bool TokenStream::conditional(Constant& value, unsigned depth) {
  if (!binary(value, 1, depth)) return false;
  if (!token_.is('?')) return true;
  advance();
  Constant yes, no;
  if (depth >= kDeepestExpression) return error(token_.range(), "the expression is nested too deeply");
  if (!conditional(yes, depth + 1) || !expect(':', "the first alternative of '?'") || !conditional(no, depth + 1))
    return false;
  value = value.bits != 0 ? yes : no;
  return true;
}

// The binary operator at the current token. Tokens are single characters, so "<<" is looked up in the text.
bool TokenStream::operator_at_token(std::string_view& text, int& precedence) {
  if (token_.kind != TokenKind::punctuation) return false;
  struct Row {
    std::string_view text;
    int precedence;
  };
  static constexpr Row kTwo[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6},
                                 {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}};
  static constexpr Row kOne[] = {{"|", 3}, {"^", 4}, {"&", 5},  {"<", 7},  {">", 7},
                                 {"+", 9}, {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
  for (const Row& r : kTwo) {
    if (token_.text[0] == r.text[0] && lexer_.directly(r.text[1])) {
      text = r.text;
      precedence = r.precedence;
      return true;
    }
  }
  for (const Row& r : kOne) {
    if (token_.text[0] == r.text[0]) {
      text = r.text;
      precedence = r.precedence;
      return true;
    }
  }
  return false;
}

namespace {

std::uint64_t divide(std::uint64_t a, std::uint64_t b, bool is_unsigned, bool remainder) {
  if (is_unsigned) return remainder ? a % b : a / b;
  const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
  if (y == -1) return remainder ? 0 : 0 - a;  // INT64_MIN / -1 would trap on the host
  return static_cast<std::uint64_t>(remainder ? x % y : x / y);
}

bool less(std::uint64_t a, std::uint64_t b, bool is_unsigned) {
  return is_unsigned ? a < b : static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
}

std::uint64_t shift_right(std::uint64_t a, std::uint64_t n, bool is_unsigned) {
  if (is_unsigned) return n > 63 ? 0 : a >> n;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> (n > 63 ? 63 : n));
}

std::uint64_t apply(std::string_view op, std::uint64_t a, std::uint64_t b, bool u) {
  if (op == "||") return (a != 0) || (b != 0);
  if (op == "&&") return (a != 0) && (b != 0);
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<=") return !less(b, a, u);
  if (op == ">=") return !less(a, b, u);
  if (op == "<<") return b > 63 ? 0 : a << b;
  if (op == ">>") return shift_right(a, b, u);
  switch (op[0]) {
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    case '&':
      return a & b;
    case '<':
      return less(a, b, u);
    case '>':
      return less(b, a, u);
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    default:
      return divide(a, b, u, op[0] == '%');
  }
}

}  // namespace

bool TokenStream::binary(Constant& value, int least_precedence, unsigned depth) {
  if (!unary(value, depth)) return false;
  std::string_view op;
  int precedence = 0;
  while (operator_at_token(op, precedence) && precedence >= least_precedence) {
    const SourceRange place = token_.range();
    advance();
    if (op.size() == 2) advance();
    Constant right;
    if (depth >= kDeepestExpression) return error(place, "the expression is nested too deeply");
    if (!binary(right, precedence + 1, depth + 1)) return false;
    if (value.literal != Literal::integer || right.literal != Literal::integer) {
      return error(place, "floating-point constants cannot be combined by operators");
    }
    if ((op == "/" || op == "%") && right.bits == 0) return error(place, "division by zero in a constant expression");
    value.is_unsigned = value.is_unsigned || right.is_unsigned;
    value.bits = apply(op, value.bits, right.bits, value.is_unsigned);
  }
  return true;
}

bool TokenStream::unary(Constant& value, unsigned depth) {
  if (depth >= kDeepestExpression) return error(token_.range(), "the expression is nested too deeply");
  if (token_.kind == TokenKind::integer || token_.kind == TokenKind::real) {
    value = {token_.literal, token_.is_unsigned, token_.value};
    advance();
    return true;
  }
  if (accept_word("WARP_SZ")) {
    value = {Literal::integer, false, kWarpSize};
    return true;
  }
  if (accept('(')) {
    if (token_.kind == TokenKind::directive) {  // cast: (.s64) x
      const bool to_unsigned = token_.text == ".u64";
      if (!to_unsigned && token_.text != ".s64") return unexpected("'.s64' or '.u64'");
      advance();
      if (!expect(')', "the type of a cast") || !unary(value, depth + 1)) return false;
      value.is_unsigned = to_unsigned;
      return true;
    }
    return conditional(value, depth + 1) && expect(')', "an expression in parentheses");
  }
  const Token op = token_;
  if (!op.is('-') && !op.is('+') && !op.is('~') && !op.is('!')) return unexpected("a constant");
  advance();
  if (!unary(value, depth + 1)) return false;
  if (value.literal != Literal::integer) {
    if (op.is('-')) value.bits ^= value.literal == Literal::f32 ? 1ull << 31 : 1ull << 63;
    return op.is('-') || op.is('+') || error(op.range(), "this operator needs an integer");
  }
  if (op.is('-')) value.bits = 0 - value.bits;
  if (op.is('~')) value.bits = ~value.bits;
  if (op.is('!')) value.bits = value.bits == 0;
  return true;
}

}  // namespace warpgrind::ptx
