// Parser of qualifiers, array dimensions and initialisers.
#include "ptx/declaration_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace warpgrind::ptx {

namespace {

constexpr std::uint64_t kLargestVariable = 1ull << 47;  // bytes; no address space is larger

// Multiplies `value`; returns false if the result is larger than any variable can be.
bool multiply(std::uint64_t& value, std::uint64_t by) {
  if (by != 0 && value > kLargestVariable / by) return false;
  value *= by;
  return value <= kLargestVariable;
}

// Bits of a literal as an element of `type`.
std::uint64_t element_bits(const Constant& c, ScalarType type) {
  if (type == ScalarType::f32) {
    if (c.literal == Literal::f64)
      return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(c.bits)));
    if (c.literal == Literal::integer) return std::bit_cast<std::uint32_t>(static_cast<float>(c.as_signed()));
  }
  if (type == ScalarType::f64) {
    if (c.literal == Literal::f32) {
      return std::bit_cast<std::uint64_t>(double{std::bit_cast<float>(static_cast<std::uint32_t>(c.bits))});
    }
    if (c.literal == Literal::integer) return std::bit_cast<std::uint64_t>(static_cast<double>(c.as_signed()));
  }
  return c.bits;
}

}  // namespace

bool DeclarationParser::attribute(Variable& v) {
  if (!t_.expect('(', ".attribute")) return false;
  while (!t_.token().is(')')) {
    if (t_.token().kind == TokenKind::end) return t_.unexpected("')'");
    if (t_.token().is_directive(".managed")) v.managed = true;
    t_.advance();
  }
  t_.advance();
  return true;
}

// Reads everything between the state space and the name, in any order.
bool DeclarationParser::qualifiers(Variable& v) {
  bool typed = false;
  while (t_.token().kind == TokenKind::directive) {
    const Token token = t_.token();
    const std::string_view word = token.text.substr(1);
    t_.advance();
    if (word == "align") {
      std::uint64_t n = 0;
      if (!t_.integer(n, "the alignment")) return false;
      if (n == 0 || (n & (n - 1)) != 0 || n > (1u << 30))
        return t_.error(token.range(), "the alignment must be a power of two");
      v.alignment = static_cast<std::uint32_t>(n);
    } else if (word == "v2" || word == "v4" || word == "v8") {
      v.vector = static_cast<std::uint8_t>(word[1] - '0');
    } else if (word == "attribute") {
      if (!attribute(v)) return false;
    } else if (const auto type = scalar_type_from_name(word)) {
      v.type = *type;
      typed = true;
    } else if (word == "ptr") {
      // `.ptr .global .align 16` describes the target of a pointer parameter. It is a promise that changes no result.
      while (t_.token().kind == TokenKind::directive) {
        if (t_.accept_directive(".align")) {
          std::uint64_t n = 0;
          if (!t_.integer(n, "the alignment")) return false;
        } else {
          t_.advance();
        }
      }
    } else {
      return t_.error(token.range(), fmt::format("'{}' is not a type or qualifier of a declaration", token.text));
    }
  }
  return typed || t_.unexpected("a type");
}

bool DeclarationParser::dimensions(Variable& v, std::vector<std::uint64_t>& dims) {
  constexpr std::size_t kMostDimensions = 16;
  while (t_.accept('[')) {
    Constant n;
    if (t_.token().is(']')) {
      if (!dims.empty()) return t_.error(t_.token().range(), "only the first dimension can be left open");
      v.unsized = true;
    } else if (!t_.constant(n)) {
      return false;
    } else if (n.literal != Literal::integer || n.bits > kLargestVariable) {
      return t_.error(t_.token().range(), "the array is larger than the address space");
    }
    if (dims.size() == kMostDimensions) return t_.error(t_.token().range(), "too many dimensions");
    dims.push_back(n.bits);
    if (!t_.expect(']', "a dimension")) return false;
  }
  return true;
}

bool DeclarationParser::declarator(Declarator& d, const Variable& base) {
  Token name;
  if (!t_.expect_name(name, "a name")) return false;
  d.variable = base;
  Variable& v = d.variable;
  v.range = name.range();
  d.name = name.text;
  v.name = name.text == "_" ? std::string_view{} : name.text;
  if (t_.accept('<')) {
    if (!t_.integer(d.count, "the number of names") || !t_.expect('>', "the number of names")) return false;
    if (d.count == 0) return t_.error(name.range(), "the range declares no names");
  }
  std::vector<std::uint64_t> dims;
  if (!dimensions(v, dims)) return false;
  v.size = std::uint64_t{bytes(v.type)} * (v.vector == 0 ? 1 : v.vector);
  for (std::size_t i = v.unsized ? 1 : 0; i < dims.size(); ++i) {
    if (!multiply(v.size, dims[i])) return t_.error(name.range(), "the array is larger than the address space");
  }
  if (v.alignment == 0) v.alignment = std::max(1u, bytes(v.type) * v.vector);
  if (v.vector > 1) dims.push_back(v.vector);
  if (t_.accept('=')) {
    if (!initialiser(v, dims)) return false;
  } else if (v.unsized) {
    v.size = 0;
  }
  return true;
}

bool DeclarationParser::declaration(StateSpace space, Linkage linkage, const std::function<bool(Declarator&)>& found) {
  Variable base;
  base.space = space;
  base.linkage = linkage;
  base.alignment = 0;
  if (!qualifiers(base)) return false;
  do {
    Declarator d;
    if (!declarator(d, base) || !found(d)) return false;
  } while (t_.accept(','));
  return t_.expect(';', "a declaration");
}

bool DeclarationParser::parameter(Declarator& out) {
  Variable base;
  base.alignment = 0;
  if (t_.accept_directive(".param")) {
    base.space = StateSpace::param;
  } else if (t_.accept_directive(".reg")) {
    base.space = StateSpace::reg;
  } else {
    return t_.unexpected("'.param' or '.reg'");
  }
  return qualifiers(base) && declarator(out, base);
}

// --- initialisers -------------------------------------------------------------------------------------------------

bool DeclarationParser::reserve_initial(Variable& v, std::uint64_t bytes) {
  if (bytes <= v.initial.size()) return true;
  const std::uint64_t more = bytes - v.initial.size();
  if (more > initial_budget_) {
    return t_.error(v.range, "the initialised variables of this module are too large",
                    "leave large arrays uninitialised");
  }
  initial_budget_ -= more;
  v.initial.resize(bytes);
  return true;
}

bool DeclarationParser::store(Variable& v, std::uint64_t offset, unsigned bytes, std::uint64_t bits) {
  const bool sane = offset <= kLargestVariable;
  if (sane && v.unsized && !reserve_initial(v, offset + bytes)) return false;
  if (!sane || offset + bytes > v.initial.size())
    return t_.error(v.range, fmt::format("'{}' has more initial values than elements", v.name));
  for (unsigned i = 0; i < bytes && i < 8; ++i) v.initial[offset + i] = static_cast<std::uint8_t>(bits >> (8 * i));
  return true;
}

bool DeclarationParser::initialiser(Variable& v, const std::vector<std::uint64_t>& dims) {
  if (bits(v.type) == 0 || v.type == ScalarType::texref || v.type == ScalarType::samplerref ||
      v.type == ScalarType::surfref) {
    // `.global .samplerref s = { addr_mode_0 = wrap }` is skipped; the runtime sets these properties.
    if (!t_.token().is('{')) return t_.unexpected("'{'");
    while (!t_.token().is('}')) {
      if (t_.token().kind == TokenKind::end) return t_.unexpected("'}'");
      t_.advance();
    }
    t_.advance();
    return true;
  }
  const std::uint64_t inner = v.size;  // unsized: bytes of one row
  if (!v.unsized && !reserve_initial(v, v.size)) return false;
  std::uint64_t index = 0;
  if (t_.token().kind == TokenKind::string) {
    if (!initial_string(v, 0)) return false;
  } else if (t_.token().is('{')) {
    if (!initial_list(v, dims, 0, index)) return false;
  } else if (!initial_element(v, 0)) {
    return false;
  }
  if (v.unsized) {  // whole rows
    const std::uint64_t rows = inner == 0 ? 0 : (v.initial.size() + inner - 1) / inner;
    if (!reserve_initial(v, rows * inner)) return false;
    v.size = v.initial.size();
    v.unsized = false;
  }
  return true;
}

bool DeclarationParser::initial_list(Variable& v, const std::vector<std::uint64_t>& dims, std::size_t level,
                                     std::uint64_t& index) {
  const Token open = t_.token();
  if (!t_.expect('{', "an initialiser")) return false;
  if (level > dims.size() || level > 16)
    return t_.error(open.range(), "the initialiser has more braces than the array has dimensions");
  std::uint64_t row = 1;  // elements in one entry of this level
  for (std::size_t i = level + 1; i < dims.size(); ++i) row *= dims[i] == 0 ? 1 : dims[i];
  while (!t_.token().is('}')) {
    if (t_.token().is('{')) {
      const std::uint64_t start = index;
      if (!initial_list(v, dims, level + 1, index)) return false;
      index = start + row;
    } else if (t_.token().kind == TokenKind::string) {
      if (!initial_string(v, index)) return false;
      index += row;
    } else {
      if (!initial_element(v, index)) return false;
      ++index;
    }
    if (!t_.accept(',')) break;
  }
  return t_.expect('}', "the initial values");
}

bool DeclarationParser::initial_string(Variable& v, std::uint64_t index) {
  const std::string_view text = t_.token().text;
  std::uint64_t at = index;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      c = text[++i];
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c == '0') c = '\0';
    }
    if (!store(v, at++ * bytes(v.type), bytes(v.type), static_cast<unsigned char>(c))) return false;
  }
  t_.advance();
  // The closing NUL is dropped if the array has no room for it.
  return (!v.unsized && (at + 1) * bytes(v.type) > v.size) || store(v, at * bytes(v.type), bytes(v.type), 0);
}

bool DeclarationParser::initial_element(Variable& v, std::uint64_t index) {
  if (t_.token().kind == TokenKind::identifier && t_.token().text != "WARP_SZ") return initial_address(v, index, ~0ull);
  // `0xFF00(name)`: one byte of an address.
  if (t_.token().kind == TokenKind::integer && t_.lexer().peek() == '(') {
    const std::uint64_t mask = t_.token().value;
    t_.advance();
    t_.advance();
    return initial_address(v, index, mask) && t_.expect(')', "an address");
  }
  Constant c;
  if (!t_.constant(c)) return false;
  const unsigned size = bytes(v.type);
  return store(v, index * size, size, element_bits(c, v.type));
}

// name, name+8, generic(name)+8, mask(name, 0xff).
bool DeclarationParser::initial_address(Variable& v, std::uint64_t index, std::uint64_t mask) {
  Relocation r;
  r.mask = mask;
  Token name = t_.token();
  t_.advance();
  if (name.text == "mask" && t_.accept('(')) {
    if (t_.token().text == "mask") return t_.error(t_.token().range(), "mask() inside mask()");
    if (!initial_address(v, index, mask)) return false;
    Constant m;
    if (!t_.expect(',', "the address in mask()") || !t_.constant(m)) return false;
    v.relocations.back().mask = m.bits;
    return t_.expect(')', "mask()");
  }
  if (name.text == "generic" && t_.accept('(')) {
    r.generic = true;
    if (!t_.expect_name(name, "a name")) return false;
    Constant inner;
    if (t_.token().is('+') || t_.token().is('-')) {
      if (!t_.constant(inner)) return false;
      r.addend += inner.as_signed();
    }
    if (!t_.expect(')', "generic()")) return false;
  }
  const auto found = symbols_.find(name.text);
  if (found == symbols_.end()) return t_.error(name.range(), fmt::format("'{}' is not declared", name.text));
  r.is_function = found->second.kind == SymbolKind::function;
  r.target = found->second.index;
  if (t_.token().is('+') || t_.token().is('-')) {
    Constant c;
    if (!t_.constant(c)) return false;
    r.addend = static_cast<std::int64_t>(static_cast<std::uint64_t>(r.addend) + c.bits);
  }
  const unsigned size = bytes(v.type);
  r.offset = index * size;
  r.size = static_cast<std::uint8_t>(size);
  if (!store(v, r.offset, size, 0)) return false;
  v.relocations.push_back(r);
  return true;
}

}  // namespace warpgrind::ptx
