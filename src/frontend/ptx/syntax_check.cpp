// Check of an instruction against the forms of its opcode's syntax line: first the types behind the opcode, then the
// kind and type of each operand (PTX ISA, "Operand Type Checking" and "Operand Size Exceeding Instruction-Type Size").
#include <fmt/format.h>

#include <algorithm>

#include "ptx/spelling.h"
#include "ptx/syntax.h"

namespace warpgrind::ptx {

namespace {

using Takes = OperandSlot::Takes;

// For each type slot of the form: the index of the instruction's type, or -1.
using SlotTypes = std::vector<int>;

bool allows(const TypeSlot& slot, ScalarType type) {
  return slot.types.empty() || std::find(slot.types.begin(), slot.types.end(), type) != slot.types.end();
}

bool match_types(const SyntaxForm& form, const Instruction& i, std::size_t slot, std::size_t next, SlotTypes& out) {
  if (slot == form.types.size()) return next == i.types.size();
  if (next < i.types.size() && allows(form.types[slot], i.types[next])) {
    out[slot] = static_cast<int>(next);
    if (match_types(form, i, slot + 1, next + 1, out)) return true;
  }
  if (!form.types[slot].optional) return false;
  out[slot] = -1;
  return match_types(form, i, slot + 1, next, out);
}

constexpr unsigned kWidestAccess = 256;  // bits per lane

// The suffixes of an instruction that are no types: its modifiers, and its state space as one of them.
std::vector<Modifier> suffixes_of(const Instruction& i) {
  std::vector<Modifier> suffixes(i.modifiers.begin(), i.modifiers.end());
  const auto space = [&](Modifier plain, Modifier one, Modifier other) {
    if (!i.has(one) && !i.has(other)) suffixes.push_back(plain);
  };
  switch (i.space) {
    case StateSpace::global:
      suffixes.push_back(Modifier::global);
      break;
    case StateSpace::local:
      suffixes.push_back(Modifier::local);
      break;
    case StateSpace::constant:
      suffixes.push_back(Modifier::const_);
      break;
    case StateSpace::shared:
      space(Modifier::shared, Modifier::shared_cta, Modifier::shared_cluster);
      break;
    case StateSpace::param:
      space(Modifier::param, Modifier::param_entry, Modifier::param_func);
      break;
    default:
      break;
  }
  return suffixes;
}

bool contains(const std::vector<Modifier>& list, Modifier m) {
  return std::find(list.begin(), list.end(), m) != list.end();
}

// Gives each suffix a choice of the form that no other one has (bipartite matching by augmenting paths).
class ChoiceMatch {
 public:
  ChoiceMatch(const SyntaxForm& form, const std::vector<Modifier>& suffixes)
      : form_(form), suffixes_(suffixes), taken_(form.choices.size(), -1) {}
  bool match() {
    for (std::size_t k = 0; k < suffixes_.size(); ++k) {
      std::vector<bool> tried(taken_.size());
      if (!place(static_cast<int>(k), tried)) return false;
    }
    return true;
  }

 private:
  bool place(int suffix, std::vector<bool>& tried) {
    for (std::size_t c = 0; c < taken_.size(); ++c) {
      if (tried[c] || !contains(form_.choices[c], suffixes_[static_cast<std::size_t>(suffix)])) continue;
      tried[c] = true;
      if (taken_[c] >= 0 && !place(taken_[c], tried)) continue;
      taken_[c] = suffix;
      return true;
    }
    return false;
  }

  const SyntaxForm& form_;
  const std::vector<Modifier>& suffixes_;
  std::vector<int> taken_;
};

bool has_modifiers_of(const SyntaxForm& form, const Instruction& i, const std::vector<Modifier>& suffixes) {
  if (form.vector != 0 && form.vector != i.vector) return false;
  const auto has = [&](Modifier m) { return contains(suffixes, m); };
  for (const auto& one_of : form.required)
    if (std::none_of(one_of.begin(), one_of.end(), has)) return false;
  const auto any = [&](std::size_t choice) {
    return std::any_of(form.choices[choice].begin(), form.choices[choice].end(), has);
  };
  for (const auto& [one, other] : form.together)
    if (any(one) != any(other)) return false;
  return std::none_of(form.excluded.begin(), form.excluded.end(), has) && ChoiceMatch(form, suffixes).match();
}

std::string list_of(const std::vector<ScalarType>& types) {
  std::string out;
  for (std::size_t k = 0; k < types.size(); ++k)
    out += fmt::format("{}.{}", k == 0 ? "" : k + 1 == types.size() ? " or " : ", ", name(types[k]));
  return out;
}

// ---- Operands.

enum class Kind : std::uint8_t { bits, integer, floating };

// Packed values and bf16 have no register type of their own; untyped registers hold them.
Kind kind_of(ScalarType t) {
  if (t == ScalarType::f16 || t == ScalarType::f32 || t == ScalarType::f64) return Kind::floating;
  if (is_bits(t) || is_float(t)) return Kind::bits;
  return Kind::integer;
}

class OperandCheck {
 public:
  OperandCheck(const Instruction& i, const Function& f, const Module& m, const SyntaxForm& form, const SlotTypes& types)
      : i_(i), f_(f), m_(m), form_(form), types_(types) {}

  // Tries each optional operand as present and as missing.
  bool match(std::size_t slot = 0, std::size_t next = 0) {
    if (slot == form_.operands.size()) {
      if (next == i_.operands.size()) return true;
      complain(next, i_.operands[next], "there is no such operand in this form");
      return false;
    }
    const OperandSlot& s = form_.operands[slot];
    const bool there = next < i_.operands.size() && (!s.second || i_.has_second_destination);
    if (there && !(next == 1 && i_.has_second_destination && !s.second)) {
      const std::string problem = problem_of(s, i_.operands[next], next);
      if (problem.empty()) {
        if (match(slot + 1, next + 1)) return true;
      } else {
        complain(next, i_.operands[next], problem);
      }
    } else if (next >= i_.operands.size() && !s.optional) {
      deepest_ = next;
      what_ = fmt::format("the operand '{}' is missing", s.name);
      range_ = i_.range;
    }
    return s.optional && match(slot + 1, next);
  }
  std::size_t depth() const { return deepest_; }
  OperandProblem problem() const { return {range_, what_}; }

 private:
  void complain(std::size_t at, const Operand& o, const std::string& what) {
    if (at < deepest_ && !what_.empty()) return;
    deepest_ = at;
    what_ = what;
    range_ = o.range;
  }

  ScalarType type_of(const OperandSlot& s) const {
    if (s.type != ScalarType::none) return s.type;
    if (s.type_slot < 0) return ScalarType::none;
    const int index = types_[static_cast<std::size_t>(s.type_slot)];
    return index < 0 ? ScalarType::none : i_.types[static_cast<std::size_t>(index)];
  }

  std::string problem_of(const OperandSlot& s, const Operand& o, std::size_t index) const {
    const ScalarType type = type_of(s);
    const bool source = index != 0 && !s.second;
    if (o.negated && !s.negatable && !(type == ScalarType::pred && source)) return "this operand cannot be negated";
    if (o.selector && !s.selector) return "this operand takes no selector of bytes or halfwords";
    if (!o.selector && s.needs_selector) return fmt::format("'{}' needs a selector in this form", s.name);
    switch (s.takes) {
      case Takes::anything:
        return "";
      case Takes::number:
        return number_problem(s, o);
      case Takes::label:
        return o.kind == OperandKind::label ? "" : fmt::format("'{}' must be a label", s.name);
      case Takes::table:
        return o.kind == OperandKind::table ? "" : fmt::format("'{}' must be the name of a table of labels", s.name);
      case Takes::address:
        return address_problem(s, o);
      case Takes::value:
        if (s.name == "_" && o.kind != OperandKind::sink) return "'_' must stand here";
        if (o.kind == OperandKind::vector) return fmt::format("'{}' is one value, not a vector", s.name);
        return value_problem(s, o, type, bits(type) * s.times, index);
      case Takes::parts:
        return parts_problem(s, o, type, index);
      case Takes::vector:
        return vector_problem(s, o, type, index);
      case Takes::fragment:
        return each(s, o, ScalarType::none, type == ScalarType::f64 ? 64 : 32, index);
    }
    return "";
  }

  static std::string number_problem(const OperandSlot& s, const Operand& o) {
    if (o.kind != OperandKind::immediate) return fmt::format("'{}' must be a number", s.name);
    if (s.largest == 0 || (o.bits >= s.least && o.bits <= s.largest && (o.bits - s.least) % s.apart == 0)) return "";
    if (s.least == s.largest) return fmt::format("'{}' must be {}", s.name, s.least);
    return fmt::format("'{}' must be a multiple of {} from {} to {}", s.name, s.apart, s.least, s.largest);
  }

  std::string each(const OperandSlot& s, const Operand& o, ScalarType type, unsigned width, std::size_t index) const {
    if (o.kind != OperandKind::vector) return value_problem(s, o, type, width, index);
    for (const Operand& e : o.elements) {
      if (e.negated || e.selector) return "a part of a vector stands as it is";
      if (std::string problem = value_problem(s, e, type, width, index); !problem.empty()) return problem;
    }
    return "";
  }

  std::string parts_problem(const OperandSlot& s, const Operand& o, ScalarType type, std::size_t index) const {
    if (i_.vector > 1) return vector_problem(s, o, type, index);
    if (o.kind != OperandKind::vector) return value_problem(s, o, type, bits(type), index);
    const std::size_t n = o.elements.size();
    if ((n != 2 && n != 4 && n != 8) || bits(type) / n < 8)
      return fmt::format("a '.{}' is no vector of {} parts", name(type), n);
    return each(s, o, ScalarType::none, bits(type) / static_cast<unsigned>(n), index);
  }

  std::string vector_problem(const OperandSlot& s, const Operand& o, ScalarType type, std::size_t index) const {
    const std::size_t n = o.kind == OperandKind::vector ? o.elements.size() : 1;
    if (n != i_.vector && o.kind != OperandKind::sink)
      return fmt::format("'{}' is {} value{}, not {}", s.name, i_.vector, i_.vector == 1 ? "" : "s", n);
    if (bits(type) * i_.vector > kWidestAccess)
      return fmt::format("{} values of .{} are more than a lane moves at once", i_.vector, name(type));
    return each(s, o, type, bits(type), index);
  }

  bool is_part_of_result(std::size_t index) const {
    return index <= (i_.has_second_destination ? 1u : 0u) && i_.operands[index].kind == OperandKind::vector;
  }

  // f32 and f64 take literals of either, integers take integers, and other floats and pairs take none.
  static std::string immediate_problem(const OperandSlot& s, const Operand& o, ScalarType type) {
    const bool is_float_literal = o.literal != Literal::integer;
    if (s.no_number) return fmt::format("'{}' must be a register, not a number", s.name);
    if (is_float_literal && type == ScalarType::pred) return fmt::format("'{}' must be a predicate", s.name);
    if (type == ScalarType::f32 || type == ScalarType::f64)
      return is_float_literal ? ""
                              : fmt::format("'{}' must be a literal like 1.0 or 0f3F800000, not an integer", s.name);
    if (is_float(type) || type == ScalarType::u16x2 || type == ScalarType::s16x2)
      return fmt::format("'{}' of .{} cannot be a literal", s.name, name(type));
    if (is_float_literal && is_bits(type) && bits(type) != (o.literal == Literal::f32 ? 32 : 64))
      return fmt::format("'{}' of .{} must be an integer or a literal of its width", s.name, name(type));
    return is_float_literal && (is_signed(type) || is_unsigned(type))
               ? fmt::format("'{}' of .{} must be an integer", s.name, name(type))
               : "";
  }

  // A store of 256 bits may leave out parts of its vector, but not all.
  bool leaves_out_parts(std::size_t index) const {
    const Operand& value = i_.operands[index];
    return i_.opcode == Opcode::st && value.kind == OperandKind::vector &&
           bits(i_.type()) * i_.vector == kWidestAccess &&
           std::ranges::any_of(value.elements, [](const Operand& e) { return e.kind != OperandKind::sink; });
  }

  std::string value_problem(const OperandSlot& s, const Operand& o, ScalarType type, unsigned width,
                            std::size_t index) const {
    const bool predicate = type == ScalarType::pred;
    switch (o.kind) {
      case OperandKind::reg:
        return register_problem(s, f_.registers[o.index], type, width);
      case OperandKind::sink:
        return s.sink || is_part_of_result(index) || leaves_out_parts(index)
                   ? ""
                   : fmt::format("'_' cannot stand for '{}'", s.name);
      case OperandKind::immediate:
        return immediate_problem(s, o, type);
      case OperandKind::sreg:
        if (o.sreg == SpecialRegister::is_explicit_cluster)
          return predicate ? "" : "%is_explicit_cluster is a predicate";
        [[fallthrough]];
      case OperandKind::variable:
      case OperandKind::function:
        return predicate ? fmt::format("'{}' must be a predicate", s.name) : "";
      case OperandKind::vector:
        return "vectors do not nest";
      case OperandKind::address:
        return fmt::format("'{}' is no address", s.name);
      default:
        return fmt::format("'{}' must be a register or a number", s.name);
    }
  }

  std::string register_problem(const OperandSlot& s, const Register& r, ScalarType type, unsigned width) const {
    const auto is_not = [&](const std::string& wanted) {
      return fmt::format("'{}' must be a register of {}, not {} of .{}", s.name, wanted, r.name.substr(0, 40),
                         name(r.type));
    };
    if (type == ScalarType::pred || r.type == ScalarType::pred) {
      if (type == r.type) return "";
      return is_not(type == ScalarType::pred ? "type .pred" : fmt::format("{} bits", width));
    }
    const unsigned have = bits(r.type);
    const bool both_floating = kind_of(r.type) == Kind::floating && kind_of(type) == Kind::floating;
    const bool size = have == width || (s.wider && have > width && !both_floating);
    if (!size) return is_not(fmt::format("{} bits{}", width, s.wider ? " or more" : ""));
    const bool kinds = type == ScalarType::none || kind_of(r.type) == Kind::bits || kind_of(type) == Kind::bits ||
                       kind_of(r.type) == kind_of(type);
    return kinds ? "" : is_not(fmt::format("a type like .{}", name(type)));
  }

  std::string address_problem(const OperandSlot& s, const Operand& o) const {
    if (o.kind != OperandKind::address) return fmt::format("'{}' must be an address in brackets", s.name);
    if (o.base == OperandKind::reg && !holds_address(o)) {
      const Register& r = f_.registers[o.index];
      return fmt::format("{} of .{} holds no address", r.name.substr(0, 40), name(r.type));
    }
    if (is_opaque(s.type)) {
      if (o.base == OperandKind::variable && o.scope == Scope::module) {
        const Variable& v = m_.variables[o.index];
        if (is_opaque(v.type) && v.type != s.type)
          return fmt::format("'{}' must be a .{}, not a .{}", s.name, name(s.type), name(v.type));
      }
    } else if (o.base == OperandKind::reg && s.type != ScalarType::none &&
               bits(f_.registers[o.index].type) != bits(s.type))
      return fmt::format("'{}' must be a register of {} bits", s.name, bits(s.type));
    if (!o.elements.empty() && !s.has_parts) return "this address has no coordinates";
    for (const Operand& e : o.elements)
      if (std::string problem = coordinate_problem(e); !problem.empty()) return problem;
    return "";
  }

  static bool is_opaque(ScalarType t) {
    return t == ScalarType::texref || t == ScalarType::samplerref || t == ScalarType::surfref;
  }

  bool holds_address(const Operand& o) const {
    const ScalarType t = f_.registers[o.index].type;
    return t != ScalarType::pred && kind_of(t) != Kind::floating && bits(t) <= 64;
  }

  // Texture coordinates have 32 bits, the handle of a sampler has 64.
  std::string coordinate_problem(const Operand& e) const {
    if (e.negated || e.selector) return "a coordinate stands as it is";
    switch (e.kind) {
      case OperandKind::vector:
        for (const Operand& part : e.elements)
          if (std::string problem = coordinate_problem(part); !problem.empty()) return problem;
        return "";
      case OperandKind::reg: {
        const unsigned width = bits(f_.registers[e.index].type);
        return width == 32 || width == 64 || width == 16 ? "" : "a coordinate is a register of 32 bits";
      }
      case OperandKind::immediate:
      case OperandKind::sreg:
      case OperandKind::variable:
        return "";
      default:
        return "a coordinate is a register or a number";
    }
  }

  const Instruction& i_;
  const Function& f_;
  const Module& m_;
  const SyntaxForm& form_;
  const SlotTypes& types_;
  std::size_t deepest_ = 0;
  std::string what_;
  SourceRange range_;
};

bool fits_form(const SyntaxForm& form, const Instruction& i, const std::vector<Modifier>& suffixes, SlotTypes& types) {
  types.assign(form.types.size(), -1);
  return has_modifiers_of(form, i, suffixes) && match_types(form, i, 0, 0, types);
}

// The first suffix that no form of the opcode has; empty: there is none.
std::string foreign_suffix(const Instruction& i, const std::vector<Modifier>& suffixes) {
  for (Modifier m : suffixes) {
    const auto has = [&](const SyntaxForm& form) {
      return std::any_of(form.choices.begin(), form.choices.end(), [&](const auto& list) { return contains(list, m); });
    };
    if (std::none_of(syntax_forms(i.opcode).begin(), syntax_forms(i.opcode).end(), has)) return std::string(name(m));
  }
  return "";
}

}  // namespace

std::string type_problem(const Instruction& i) {
  if (!info(i.opcode).refused.empty()) return "";
  SlotTypes types;
  const std::vector<Modifier> suffixes = suffixes_of(i);
  for (const SyntaxForm& form : syntax_forms(i.opcode))
    if (fits_form(form, i, suffixes, types)) return "";
  const std::string text = opcode_spelling(i).substr(0, 60);
  if (const std::string foreign = foreign_suffix(i, suffixes); !foreign.empty())
    return fmt::format("the suffix .{} of '{}' is none that '{}' takes", foreign, text, info(i.opcode).text);
  // Reports the first type that no form with the same other suffixes accepts. If all types fit, reports the other
  // suffixes.
  for (std::size_t k = 0; k < i.types.size(); ++k) {
    std::vector<ScalarType> taken;
    for (const SyntaxForm& form : syntax_forms(i.opcode)) {
      if (k >= form.types.size() || !has_modifiers_of(form, i, suffixes)) continue;
      taken.insert(taken.end(), form.types[k].types.begin(), form.types[k].types.end());
    }
    const auto has = [&](ScalarType t) { return std::find(taken.begin(), taken.end(), t) != taken.end(); };
    const bool elsewhere =
        std::any_of(syntax_forms(i.opcode).begin(), syntax_forms(i.opcode).end(),
                    [&](const SyntaxForm& form) { return k < form.types.size() && allows(form.types[k], i.types[k]); });
    if (taken.empty() || has(i.types[k]) || elsewhere) continue;
    return fmt::format("the type .{} of '{}' is none that '{}' takes there: {}", name(i.types[k]), text,
                       info(i.opcode).text, list_of(taken));
  }
  return fmt::format("'{}' is no form of '{}'", text, info(i.opcode).text);
}

std::optional<OperandProblem> operand_problem(const Instruction& i, const Function& f, const Module& m) {
  if (!info(i.opcode).refused.empty()) return std::nullopt;
  SlotTypes types;
  std::optional<OperandProblem> problem;
  std::size_t deepest = 0;
  const std::vector<Modifier> suffixes = suffixes_of(i);
  for (const SyntaxForm& form : syntax_forms(i.opcode)) {
    if (!fits_form(form, i, suffixes, types)) continue;
    OperandCheck check(i, f, m, form, types);
    if (check.match()) return std::nullopt;
    if (problem && check.depth() < deepest) continue;
    deepest = check.depth();
    problem = check.problem();
  }
  return problem;
}

}  // namespace warpgrind::ptx
