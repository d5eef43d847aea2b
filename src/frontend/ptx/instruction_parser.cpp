// Parser of instructions and their operands.
#include <fmt/format.h>

#include <algorithm>

#include "ptx/architecture.h"
#include "ptx/function_parser.h"
#include "ptx/special_registers.h"
#include "ptx/syntax.h"
#include "ptx/waits.h"

namespace warpgrind::ptx {

namespace {

constexpr unsigned kDeepestOperand = 4;

// `.x .y .z .w` (or `.r .g .b .a`) as 0..3; -1 for anything else.
int component_of(std::string_view directive) {
  if (directive.size() != 2) return -1;
  static constexpr std::string_view kPosition = "xyzw", kColour = "rgba";
  const std::size_t p = kPosition.find(directive[1]), c = kColour.find(directive[1]);
  if (p != std::string_view::npos) return static_cast<int>(p);
  return c != std::string_view::npos ? static_cast<int>(c) : -1;
}

bool is_address_context(Opcode opcode) {
  return arity(opcode).address;
}

}  // namespace

bool FunctionParser::not_declared(const Token& name) {
  return t_.error(name.range(), fmt::format("'{}' is not declared", name.text.substr(0, 60)));
}

bool FunctionParser::guard(Guard& g) {
  t_.advance();
  g.negated = t_.accept('!');
  Token name;
  if (!t_.expect_name(name, "a predicate register")) return false;
  Symbol symbol;
  Scope where{};
  if (!lookup(name.text, symbol, where)) return not_declared(name);
  if (symbol.kind != SymbolKind::register_ || f_->registers[symbol.index].type != ScalarType::pred) {
    return t_.error(name.range(), fmt::format("the guard '{}' is not a predicate register", name.text.substr(0, 60)));
  }
  g.reg = symbol.index;
  return true;
}

bool FunctionParser::instruction() {
  Instruction i;
  i.location = location_;
  i.range = t_.token().range();
  if (t_.token().is('@') && !guard(i.guard)) return false;
  if (t_.token().kind != TokenKind::identifier) return t_.unexpected("an instruction");
  t_.lexer().extend_opcode(t_.token());
  Token opcode = t_.token();
  SpellingError error;
  const Spelling* s = m_.spelling(opcode, error);
  if (!s) {
    unknown_instruction(opcode, error);
    return true;
  }
  i.opcode = s->opcode;
  i.space = s->space;
  i.vector = s->vector;
  i.types = s->types;
  i.modifiers = s->modifiers;
  i.suffix_order = s->suffix_order;
  t_.advance();
  if (i.opcode == Opcode::call) {
    if (!call(i)) return false;
  } else if (!t_.token().is(';')) {
    i.operands.reserve(4);
    if (!operands(i)) return false;
  }
  const Token end = t_.token();
  if (!t_.expect(';', "an instruction")) return false;
  if (end.line == i.range.line) i.range.length = end.column - i.range.column;
  if (!check(i, opcode)) return true;  // the error is recorded; the statement itself is complete
  if (!split_vector_move(i) && !branch_around(i)) f_->body.push_back(std::move(i));
  return true;
}

void FunctionParser::unknown_instruction(const Token& opcode, const SpellingError& error) {
  UnknownInstruction unknown;
  unknown.range = opcode.range();
  const std::string_view text = opcode.text.substr(0, 60), part = error.part.substr(0, 60);
  unknown.why = fmt::format("{} '{}'", error.why, part);
  if (error.part.size() != opcode.text.size()) unknown.why += fmt::format(" in '{}'", text);
  f_->unknown.push_back(std::move(unknown));
  t_.recover_statement();
}

// `mov.v4.u32 %v, %tid`: one mov for each component, unless a later mov would read a register that an earlier one
// wrote.
bool FunctionParser::split_vector_move(const Instruction& i) {
  if (i.opcode != Opcode::mov || i.vector == 1 || i.operands[0].kind != OperandKind::vector ||
      i.operands[1].kind != OperandKind::vector)
    return false;
  const std::vector<Operand>& to = i.operands[0].elements;
  const std::vector<Operand>& from = i.operands[1].elements;
  if (to.size() != from.size()) return false;
  for (std::size_t k = 0; k < to.size(); ++k) {
    for (std::size_t later = k + 1; later < from.size(); ++later) {
      const bool same =
          to[k].kind == OperandKind::reg && from[later].kind == OperandKind::reg && to[k].index == from[later].index;
      if (same) return false;
    }
  }
  Instruction one = i;
  one.vector = 1;
  one.suffix_order = 0;
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (to[k].kind == OperandKind::sink) continue;
    one.operands = {to[k], from[k]};
    f_->body.push_back(one);
  }
  return true;
}

// `@%p bar.sync 0`: threads whose guard is off do not wait here; they continue to where others may need them. A branch
// around the instruction makes that path visible in the control flow.
bool FunctionParser::branch_around(Instruction& i) {
  if (!i.guard || !waits_for_others(i)) return false;
  Instruction branch;
  branch.opcode = Opcode::bra;
  branch.guard = {i.guard.reg, !i.guard.negated};
  branch.location = i.location;
  branch.range = i.range;
  Operand target;
  target.kind = OperandKind::label;
  target.range = i.range;
  target.index = static_cast<std::uint32_t>(label_references_.size());
  label_references_.push_back({"", i.range, static_cast<LabelId>(f_->labels.size()), kNoId});
  branch.operands.push_back(std::move(target));
  i.guard = {};
  f_->body.push_back(std::move(branch));
  f_->body.push_back(std::move(i));
  f_->labels.push_back({"around", static_cast<std::uint32_t>(f_->body.size())});
  return true;
}

bool FunctionParser::operands(Instruction& i) {
  do {
    i.operands.emplace_back();
    if (!operand(i.operands.back(), i, 0)) return false;
    if (i.operands.size() == 1 && t_.accept('|')) {
      i.operands.emplace_back();
      i.has_second_destination = true;
      if (!operand(i.operands.back(), i, 0)) return false;
    }
  } while (t_.accept(','));
  return true;
}

// Checks the counts and kinds of operands that every later stage relies on, by the manual's syntax line.
bool FunctionParser::check(const Instruction& i, const Token& opcode) {
  if (i.opcode == Opcode::call) return true;
  const Arity& a = arity(i.opcode);
  const OpcodeInfo& facts = info(i.opcode);
  const auto complain = [&](std::string message) {
    return t_.error(opcode.range(), std::move(message), fmt::format("syntax: {}", facts.syntax));
  };
  const std::size_t n = i.operands.size();
  if (n < a.minimum || n > a.maximum) {
    if (a.minimum == a.maximum)
      return complain(fmt::format("'{}' takes {} operands, not {}", facts.text, a.minimum, n));
    return complain(fmt::format("'{}' takes {} to {} operands, not {}", facts.text, a.minimum, a.maximum, n));
  }
  if (i.types.size() < a.minimum_types)
    return complain(fmt::format("'{}' lacks a type suffix", opcode.text.substr(0, 60)));
  if (std::string problem = type_problem(i); !problem.empty()) {
    f_->unknown.push_back({std::move(problem), opcode.range()});  // may belong to a PTX newer than the table
    return false;
  }
  if (std::string problem = outdated_form(i, m_.module()); !problem.empty()) {
    f_->unknown.push_back({std::move(problem), opcode.range()});
    return false;
  }
  // Earlier versions are not checked: the modules of old compilers run whatever they say.
  constexpr PtxVersion kFirstChecked{9, 1};
  const PtxVersion needed = needed_version(i);
  const PtxVersion has{static_cast<std::uint8_t>(m_.module().version_major),
                       static_cast<std::uint8_t>(m_.module().version_minor)};
  if (needed >= kFirstChecked && has < needed) {
    f_->unknown.push_back({fmt::format("'{}' needs PTX ISA .version {}.{}, and the module has {}.{}",
                                       opcode.text.substr(0, 60), needed.major, needed.minor, has.major, has.minor),
                           opcode.range()});
    return false;
  }
  if (a.address && std::none_of(i.operands.begin(), i.operands.end(),
                                [](const Operand& o) { return o.kind == OperandKind::address; })) {
    return complain(fmt::format("'{}' lacks a memory operand in brackets", facts.text));
  }
  const std::size_t destinations = std::min<std::size_t>(n, facts.destinations + (i.has_second_destination ? 1u : 0u));
  for (std::size_t k = 0; k < destinations; ++k) {
    const auto takes = [](const Operand& o) { return o.kind == OperandKind::reg || o.kind == OperandKind::sink; };
    const Operand& o = i.operands[k];
    const bool good =
        o.kind == OperandKind::vector ? std::all_of(o.elements.begin(), o.elements.end(), takes) : takes(o);
    if (good) continue;
    return t_.error(o.range, fmt::format("the destination of '{}' must be a register", facts.text),
                    fmt::format("syntax: {}", facts.syntax));
  }
  if (const auto problem = operand_problem(i, *f_, m_.module()))
    return t_.error(problem->range, fmt::format("'{}': {}", opcode.text.substr(0, 60), problem->what),
                    fmt::format("syntax: {}", facts.syntax));
  return true;
}

// call{.uni} {(results),} callee {, (arguments)} {, table};
bool FunctionParser::call(Instruction& i) {
  if (t_.token().is('(')) {
    if (!call_list(i.results, /*results=*/true) || !t_.expect(',', "the return values")) return false;
  }
  Token name;
  if (!t_.expect_name(name, "a function")) return false;
  Symbol symbol;
  Scope where{};
  if (!lookup(name.text, symbol, where)) return not_declared(name);
  Operand callee;
  callee.range = name.range();
  callee.index = symbol.index;
  if (symbol.kind == SymbolKind::function) {
    callee.kind = OperandKind::function;
  } else if (symbol.kind == SymbolKind::register_ && symbol.components == 1 &&
             is_integer(f_->registers[symbol.index].type) && bits(f_->registers[symbol.index].type) == 64) {
    callee.kind = OperandKind::reg;
  } else {
    return t_.error(name.range(), fmt::format("'{}' cannot be called", name.text.substr(0, 60)));
  }
  i.operands.push_back(std::move(callee));
  while (t_.accept(',')) {
    if (t_.token().is('(')) {
      if (!i.arguments.empty() || i.operands.size() > 1) return t_.unexpected("the call's table");
      if (!call_list(i.arguments, /*results=*/false)) return false;
      continue;
    }
    Operand table;
    if (i.operands.size() > 1) return t_.unexpected("';'");
    if (!operand(table, i, 0)) return false;
    if (table.kind != OperandKind::table) return t_.error(table.range, "expected a .callprototype or .calltargets");
    i.operands.push_back(std::move(table));
  }
  if (i.operands[0].kind == OperandKind::reg && i.operands.size() < 2) {
    return t_.error(name.range(), "a call through a register needs a .callprototype or .calltargets");
  }
  return true;
}

// A call passes a value or a variable. A variable of the .param space is passed with all its bytes.
bool FunctionParser::passes(const Operand& o, bool result) const {
  switch (o.kind) {
    case OperandKind::reg:
      return !o.negated && o.selector == 0;
    case OperandKind::sink:
      return result;
    case OperandKind::variable:
      return !result ||
             (o.scope == Scope::function && o.offset == 0 && f_->variables[o.index].space == StateSpace::param);
    case OperandKind::immediate:
    case OperandKind::sreg:
    case OperandKind::function:
      return !result;
    default:
      return false;
  }
}

bool FunctionParser::call_list(std::vector<Operand>& list, bool results) {
  t_.advance();
  if (t_.accept(')')) return true;
  Instruction context;
  context.opcode = Opcode::mov;  // plain values
  do {
    list.emplace_back();
    if (!operand(list.back(), context, 1)) return false;
    if (!passes(list.back(), results))
      return t_.error(list.back().range, results ? "a call's result is a register or a variable of .param"
                                                 : "a call's argument is a register, a number or a variable");
  } while (t_.accept(','));
  return t_.expect(')', "the list");
}

bool FunctionParser::operand(Operand& o, const Instruction& i, unsigned depth) {
  const Token token = t_.token();
  o.range = token.range();
  if (depth > kDeepestOperand) return t_.error(o.range, "the operand is nested too deeply");
  switch (token.kind) {
    case TokenKind::identifier:
      return name_operand(o, i);
    case TokenKind::integer:
    case TokenKind::real:
      return constant_operand(o);
    case TokenKind::punctuation:
      break;
    default:
      return t_.unexpected("an operand");
  }
  if (token.is('{')) return vector_operand(o, i, depth);
  if (token.is('[')) return address_operand(o, i, depth);
  if (token.is('!') || token.is('-')) {
    // `!%p`, `-%r` (video) or a constant.
    const char c = t_.lexer().peek();
    const bool named = c == '%' || c == '_' || c == '$' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!named) return constant_operand(o);
    t_.advance();
    if (!name_operand(o, i)) return false;
    o.negated = true;
    return o.kind == OperandKind::reg || t_.error(o.range, "only registers can be negated");
  }
  if (token.is('(') || token.is('~') || token.is('+')) return constant_operand(o);
  return t_.unexpected("an operand");
}

bool FunctionParser::constant_operand(Operand& o) {
  Constant c;
  if (!t_.constant(c)) return false;
  o.kind = OperandKind::immediate;
  o.literal = c.literal;
  o.bits = c.bits;
  return true;
}

bool FunctionParser::name_operand(Operand& o, const Instruction& i) {
  Token name;
  if (!t_.expect_name(name, "a name")) return false;
  o.range = name.range();
  if (name.text == "_") {
    o.kind = OperandKind::sink;
    return true;
  }
  if (i.opcode == Opcode::bra) {
    o.kind = OperandKind::label;
    o.index = label_reference(name);
    return true;
  }
  Symbol symbol;
  if (!lookup(name.text, symbol, o.scope)) {
    if (name.text[0] == '%' && special_register_from_text(name.text)) return special_register(o, name);
    if (name.text == "WARP_SZ") {
      o.kind = OperandKind::immediate;
      o.bits = kWarpSize;
      return true;
    }
    return not_declared(name);
  }
  switch (symbol.kind) {
    case SymbolKind::register_:
      return register_operand(o, name, symbol) && selector(o, i);
    case SymbolKind::function:
      o.kind = OperandKind::function;
      break;
    case SymbolKind::table:
      o.kind = OperandKind::table;
      break;
    case SymbolKind::variable:
      o.kind = OperandKind::variable;
      break;
  }
  o.index = symbol.index;
  if (o.kind == OperandKind::variable && (t_.token().is('+') || t_.token().is('-'))) {
    Constant c;
    if (!t_.constant(c)) return false;
    o.offset = c.as_signed();
  } else if (o.kind == OperandKind::variable && t_.accept('[')) {  // x[3]: the address of an element
    Constant c;
    if (!t_.constant(c) || !t_.expect(']', "an index")) return false;
    const Variable& v = o.scope == Scope::module ? m_.module().variables[o.index] : f_->variables[o.index];
    o.offset = static_cast<std::int64_t>(c.bits * bytes(v.type) * v.vector);
    if (is_address_context(i.opcode)) {
      o.kind = OperandKind::address;
      o.base = OperandKind::variable;
    }
  }
  return true;
}

bool FunctionParser::register_operand(Operand& o, const Token& name, const Symbol& symbol) {
  o.kind = OperandKind::reg;
  o.index = symbol.index;
  if (symbol.components == 1) return true;
  if (t_.token().kind == TokenKind::directive && t_.token().text.data() == name.text.data() + name.text.size()) {
    const int component = component_of(t_.token().text);
    if (component < 0 || component >= symbol.components)
      return t_.error(t_.token().range(), "the vector register has no such component");
    t_.advance();
    o.index = symbol.index + static_cast<std::uint32_t>(component);
    return true;
  }
  o.kind = OperandKind::vector;
  o.index = kNoId;
  for (unsigned k = 0; k < symbol.components; ++k) {
    Operand element;
    element.kind = OperandKind::reg;
    element.index = symbol.index + k;
    element.range = o.range;
    o.elements.push_back(std::move(element));
  }
  return true;
}

// Video instructions: `%r1.b0`, `%r2.h10`, `%r3.b3210`.
bool FunctionParser::selector(Operand& o, const Instruction&) {
  if (o.kind != OperandKind::reg || t_.token().kind != TokenKind::directive) return true;
  o.selector = selector_from_text(t_.token().text.substr(1));
  if (o.selector == 0)
    return t_.error(t_.token().range(),
                    fmt::format("'{}' is not a valid selector of a register", t_.token().text.substr(0, 60)));
  t_.advance();
  return true;
}

bool FunctionParser::special_register(Operand& o, const Token& name) {
  const SpecialRegisterName s = *special_register_from_text(name.text);
  const auto as_component = [&](Operand& out, int component) {
    out.range = o.range;
    if (component == 3) {  // the fourth component: 0 for an index, 1 for a size
      out.kind = OperandKind::immediate;
      out.bits = name.text.starts_with("%n") || name.text == "%cluster_nctaid";
      return;
    }
    out.kind = OperandKind::sreg;
    out.sreg = static_cast<SpecialRegister>(static_cast<int>(s.sreg) + component);
    if (s.number != kNoId) out.index = s.number;
  };
  if (!s.is_vector) {
    as_component(o, 0);
    return true;
  }
  if (t_.token().kind == TokenKind::directive) {
    const int component = component_of(t_.token().text);
    if (component < 0) return t_.error(t_.token().range(), "the special register has no such component");
    t_.advance();
    as_component(o, component);
    return true;
  }
  o.kind = OperandKind::vector;
  for (int component = 0; component < 4; ++component) {
    o.elements.emplace_back();
    as_component(o.elements.back(), component);
  }
  return true;
}

bool FunctionParser::vector_operand(Operand& o, const Instruction& i, unsigned depth) {
  t_.advance();
  o.kind = OperandKind::vector;
  o.elements.reserve(4);
  do {
    o.elements.emplace_back();
    if (!operand(o.elements.back(), i, depth + 1)) return false;
  } while (t_.accept(','));
  return t_.expect('}', "a vector");
}

// [base + offset] or [base {, sampler}, coordinates]
bool FunctionParser::address_operand(Operand& o, const Instruction& i, unsigned depth) {
  const Token open = t_.token();
  t_.advance();
  if (!address_base(o, i)) return false;
  if (t_.token().is(',') && !address_elements(o, i, depth)) return false;
  const Token close = t_.token();
  if (!t_.expect(']', "an address")) return false;
  if (close.line == open.line) o.range.length = close.column + 1 - open.column;
  if (t_.token().is_directive(".unified")) t_.advance();  // a hint that the address is in unified memory
  return true;
}

bool FunctionParser::address_base(Operand& o, const Instruction& i) {
  const SourceRange whole = o.range;
  o.kind = OperandKind::address;
  if (t_.token().kind != TokenKind::identifier || t_.token().text == "WARP_SZ") {
    Constant c;
    if (!t_.constant(c)) return false;
    o.offset = c.as_signed();
    return true;
  }
  Operand base;
  if (!name_operand(base, i)) return false;
  o.range = whole;
  o.scope = base.scope;
  o.index = base.index;
  o.offset = base.offset;
  const bool variable =
      base.kind == OperandKind::variable || (base.kind == OperandKind::address && base.base == OperandKind::variable);
  if (base.kind != OperandKind::reg && !variable)
    return t_.error(base.range, "an address needs a register, a variable or a number");
  o.base = variable ? OperandKind::variable : OperandKind::reg;
  if (t_.token().is('+') || t_.token().is('-')) {
    if (t_.token().is('+')) t_.advance();  // [%r1+-8]
    Constant c;
    if (!t_.constant(c)) return false;
    o.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(o.offset) + c.bits);
  }
  return true;
}

bool FunctionParser::address_elements(Operand& o, const Instruction& i, unsigned depth) {
  std::vector<Operand> parts;
  while (t_.accept(',')) {
    parts.emplace_back();
    if (!operand(parts.back(), i, depth + 1)) return false;
  }
  if (parts.size() > 2) return t_.error(parts[2].range, "too many parts in an address");
  if (parts.size() == 2) {
    o.has_sampler = true;
    o.elements.push_back(std::move(parts[0]));
    parts.erase(parts.begin());
  }
  if (parts[0].kind == OperandKind::vector) {
    for (Operand& element : parts[0].elements) o.elements.push_back(std::move(element));
  } else {
    o.elements.push_back(std::move(parts[0]));
  }
  return true;
}

}  // namespace warpgrind::ptx
