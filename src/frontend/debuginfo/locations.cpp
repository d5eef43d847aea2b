#include "debuginfo/locations.h"

#include <fmt/format.h>

#include <algorithm>

#include "debuginfo/byte_cursor.h"

namespace warpgrind::debuginfo {

namespace {

// A space that DW_AT_address_class names; generic for those that hold no variable.
StateSpace space_of_class(std::uint64_t address_class) {
  if (address_class == dw::class_constant) return StateSpace::constant;
  if (address_class == dw::class_global) return StateSpace::global;
  if (address_class == dw::class_local) return StateSpace::local;
  if (address_class == dw::class_param) return StateSpace::param;
  return address_class == dw::class_shared ? StateSpace::shared : StateSpace::generic;
}

std::vector<std::uint8_t> number_bytes(std::uint64_t number) {
  std::vector<std::uint8_t> out;
  for (unsigned i = 0; i < 8; ++i) out.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
  return out;
}

// An address or number that an expression computes: a base plus an offset.
struct Term {
  enum class Base : std::uint8_t { none, variable, reg } base = Base::none;
  InVariable variable;
  ptx::RegId reg = ptx::kNoId;
  std::int64_t offset = 0;
  bool loaded = false;  // DW_OP_deref: the address is in memory there
};

}  // namespace

// One evaluation. The stack is symbolic, so only sums of a base and constants have a meaning.
struct LocationReader::Expression {
  Expression(LocationReader& owner, const SectionData& data, std::uint64_t at, std::uint64_t size, std::uint64_t space,
             std::uint32_t f)
      : reader(owner), section(data), cursor(data, at, at + size), address_class(space), function(f) {}

  LocationReader& reader;
  const SectionData& section;
  ByteCursor cursor;
  std::uint64_t address_class;
  std::uint32_t function;
  std::vector<Term> stack;
  PlainLocation result = NoValue{"optimised away: the compiler gives an empty place for it"};
  bool has_result = false;
  Pieces pieces;

  bool no_value(std::string why) {
    result = NoValue{std::move(why)};
    has_result = true;
    return false;
  }

  void push(std::int64_t number) {
    stack.emplace_back();
    stack.back().offset = number;
  }

  bool use_register(std::string name, bool is_address) {
    const ptx::RegId reg = reader.find_register(name, function);
    const std::int64_t offset = is_address ? cursor.sleb() : 0;
    if (reg == ptx::kNoId) return no_value(fmt::format("the code does not use its register {}", name.substr(0, 60)));
    if (is_address) {
      stack.emplace_back();
      stack.back().base = Term::Base::reg;
      stack.back().reg = reg;
      stack.back().offset = offset;
      return true;
    }
    has_result = true;
    if (address_class == 0 || address_class == dw::class_register)
      result = InRegister{reg};
    else
      result = AtRegister{reg, 0, space_of_class(address_class), false};
    return true;
  }

  bool use_variable(std::string_view symbol, std::int64_t offset) {
    const std::optional<InVariable> found = reader.variable(symbol, function);
    if (!found) return no_value(fmt::format("the code has no variable '{}'", symbol.substr(0, 200)));
    stack.emplace_back();
    stack.back().base = Term::Base::variable;
    stack.back().variable = *found;
    stack.back().offset = offset;
    return true;
  }

  bool address() {
    const SymbolReference* reference = section.reference_at(cursor.position());
    const std::uint64_t number = cursor.number(8);
    if (reference) return use_variable(reference->symbol, reference->addend);
    push(static_cast<std::int64_t>(number));
    return true;
  }

  // The frame of a PTX function is its local depot.
  bool frame_address() {
    const std::int64_t offset = cursor.sleb();
    if (function != ptx::kNoId) {
      for (const ptx::Variable& v : reader.part_.module().functions[function].variables)
        if (v.space == StateSpace::local && v.name.starts_with("__local_depot")) return use_variable(v.name, offset);
    }
    return no_value("its place is in the frame, and the function has no local memory");
  }

  bool add() {
    if (stack.size() < 2) return false;
    const Term last = stack.back();
    stack.pop_back();
    if (last.base != Term::Base::none && stack.back().base != Term::Base::none) return false;
    Term sum = last.base != Term::Base::none ? last : stack.back();
    sum.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(last.offset) +
                                           static_cast<std::uint64_t>(stack.back().offset));
    stack.back() = sum;
    return true;
  }

  // DW_OP_stack_value: the number itself is the value.
  bool value_on_stack() {
    if (stack.empty()) return false;
    const Term& top = stack.back();
    if (top.base == Term::Base::none && !top.loaded)
      result = ConstantValue{number_bytes(static_cast<std::uint64_t>(top.offset))};
    else if (top.base == Term::Base::reg && top.offset == 0 && !top.loaded)
      result = InRegister{top.reg};
    else
      return false;
    has_result = true;
    return true;
  }

  // What the address on top of the stack means.
  void finish_address() {
    if (has_result || stack.empty()) return;
    const Term& top = stack.back();
    has_result = true;
    if (top.base == Term::Base::variable && !top.loaded) {
      InVariable place = top.variable;
      place.offset = top.offset;
      result = place;
    } else if (top.base == Term::Base::reg) {
      result = AtRegister{top.reg, top.offset, space_of_class(address_class), top.loaded};
    } else if (top.base == Term::Base::none && !top.loaded) {
      result = AtAddress{static_cast<std::uint64_t>(top.offset), space_of_class(address_class)};
    } else {
      no_value("its place is computed in a way that cannot be followed");
    }
  }

  bool piece() {
    const std::uint64_t size = cursor.uleb();
    finish_address();
    pieces.pieces.push_back({result, size});
    result = NoValue{"optimised away: this part has no place"};
    has_result = false;
    stack.clear();
    return pieces.pieces.size() < 1000;
  }

  bool constant(unsigned width, bool is_signed) {
    std::uint64_t n = cursor.number(width);
    if (is_signed && width < 8 && (n >> (8 * width - 1) & 1)) n |= ~std::uint64_t{0} << (8 * width);
    push(static_cast<std::int64_t>(n));
    return true;
  }

  bool implicit_value() {
    const std::uint64_t size = cursor.uleb();
    if (size > cursor.left()) return false;
    ConstantValue value;
    for (std::uint64_t i = 0; i < size; ++i) value.bytes.push_back(static_cast<std::uint8_t>(cursor.number(1)));
    result = std::move(value);
    has_result = true;
    return true;
  }

  // False: the expression ends here. `result` says why, if it has a reason of its own.
  bool operation(unsigned op) {
    if (op >= dw::op_lit0 && op <= dw::op_lit31) {
      push(op - dw::op_lit0);
      return true;
    }
    switch (op) {
      case dw::op_addr:
        return address();
      case dw::op_regx:
        return use_register(cursor.register_name(), false);
      case dw::op_bregx:
        return use_register(cursor.register_name(), true);
      case dw::op_fbreg:
        return frame_address();
      case dw::op_const1u:
        return constant(1, false);
      case dw::op_const1s:
        return constant(1, true);
      case dw::op_const2u:
        return constant(2, false);
      case dw::op_const2s:
        return constant(2, true);
      case dw::op_const4u:
        return constant(4, false);
      case dw::op_const4s:
        return constant(4, true);
      case dw::op_const8u:
      case dw::op_const8s:
        return constant(8, false);
      case dw::op_constu:
        return push(static_cast<std::int64_t>(cursor.uleb())), true;
      case dw::op_consts:
        return push(cursor.sleb()), true;
      case dw::op_plus:
        return add();
      case dw::op_plus_uconst:
        return push(static_cast<std::int64_t>(cursor.uleb())), add();
      case dw::op_swap:
        if (stack.size() < 2) return false;
        std::swap(stack[stack.size() - 1], stack[stack.size() - 2]);
        return true;
      case dw::op_xderef: {  // clang: the space below the address
        if (stack.size() < 2) return false;
        const Term top = stack.back();
        stack.pop_back();
        address_class = static_cast<std::uint64_t>(stack.back().offset);
        stack.back() = top;
        return true;
      }
      case dw::op_deref:
        if (stack.empty() || stack.back().loaded) return false;
        stack.back().loaded = true;
        return true;
      case dw::op_stack_value:
        return value_on_stack();
      case dw::op_implicit_value:
        return implicit_value();
      case dw::op_piece:
        return piece();
      case dw::op_nop:
        return true;
      default:
        return false;
    }
  }

  Location run() {
    while (!cursor.done()) {
      const auto op = static_cast<unsigned>(cursor.number(1));
      if (!operation(op) || cursor.failed()) {
        if (!has_result || cursor.failed())
          no_value(cursor.failed()
                       ? "its place is truncated"
                       : fmt::format("its place is computed in a way that cannot be followed (DWARF operation "
                                     "{:#x})",
                                     op));
        break;
      }
    }
    if (!pieces.pieces.empty()) return pieces;
    finish_address();
    return std::visit([](auto& place) { return Location(std::move(place)); }, result);
  }
};

std::optional<InVariable> LocationReader::variable(std::string_view symbol, std::uint32_t function) {
  const ptx::Module& module = part_.module();
  if (function != ptx::kNoId) {
    const std::vector<ptx::Variable>& own = module.functions[function].variables;
    for (std::uint32_t k = 0; k < own.size(); ++k)
      if (own[k].name == symbol) return InVariable{own[k].space, ptx::Scope::function, k, 0};
  }
  if (globals_.empty()) {
    // First those of this part. The linker may have renamed an internal one to NAME$module1.
    for (const bool own : {true, false}) {
      for (std::uint32_t k = 0; k < module.variables.size(); ++k) {
        std::string_view name = module.variables[k].name;
        if (part_.in_part(module.variables[k].range) != own) continue;
        if (const std::size_t mark = name.rfind("$module"); own && mark != std::string_view::npos)
          globals_.try_emplace(name.substr(0, mark), k);
        globals_.try_emplace(name, k);
      }
    }
  }
  const auto found = globals_.find(symbol);
  if (found == globals_.end()) return std::nullopt;
  return InVariable{module.variables[found->second].space, ptx::Scope::module, found->second, 0};
}

ptx::RegId LocationReader::find_register(const std::string& name, std::uint32_t function) {
  if (function == ptx::kNoId) return ptx::kNoId;
  if (registers_of_ != function) {
    registers_of_ = function;
    registers_.clear();
    const std::vector<ptx::Register>& all = part_.module().functions[function].registers;
    for (ptx::RegId r = 0; r < all.size(); ++r) registers_.try_emplace(all[r].name, r);
  }
  const auto found = registers_.find(name);
  return found == registers_.end() ? ptx::kNoId : found->second;
}

Location LocationReader::expression(const SectionData& section, std::uint64_t at, std::uint64_t size,
                                    std::uint64_t address_class, std::uint32_t function) {
  if (size == 0) return NoValue{"optimised away: the compiler gives an empty place for it"};
  return Expression(*this, section, at, size, address_class, function).run();
}

// Entries: two labels, the expression's length in 2 bytes, the expression. Two zeroes end the list.
void LocationReader::list(std::uint64_t at, std::uint64_t address_class, std::uint32_t function, Variable& variable) {
  const SectionData& lists = part_.lists();
  ByteCursor cursor(lists, at, lists.bytes.size());
  while (!cursor.failed()) {
    const std::uint64_t place = cursor.position();
    const std::uint64_t begin = cursor.number(8), end = cursor.number(8);
    const bool symbolic = lists.reference_at(place) || lists.reference_at(place + 8);
    if (!symbolic && begin == 0 && end == 0) return;
    if (!symbolic && begin == ~std::uint64_t{0}) continue;  // a base address
    const std::uint64_t size = cursor.number(2);
    const std::uint64_t block = cursor.position();
    cursor.skip(size);
    if (cursor.failed()) break;
    const std::optional<CodePlace> from = part_.label(lists, place), to = part_.label(lists, place + 8);
    if (!from || !to || from->function != function || to->function != function) continue;
    if (from->instruction >= to->instruction) continue;
    variable.ranges.push_back(
        {{from->instruction, to->instruction}, expression(lists, block, size, address_class, function)});
  }
  part_.add_problem(0, fmt::format("the location list at {:#x} is truncated", at));
}

void LocationReader::read(EntryIndex entry, std::uint32_t function, Variable& variable) {
  const std::uint64_t address_class = part_.constant(entry, dw::at_address_class);
  if (const Attribute* a = part_.find_deep(entry, dw::at_location)) {
    if (a->kind == AttributeClass::block) {
      variable.location = expression(part_.info(), a->value, a->size, address_class, function);
    } else if (a->kind == AttributeClass::constant) {
      variable.location = NoValue{"optimised away: no instruction of the function has its value"};
      list(a->value, address_class, function, variable);
    } else {
      variable.location = NoValue{"its place has a form of DWARF that is not read"};
    }
    return;
  }
  if (const Attribute* a = part_.find_deep(entry, dw::at_const_value)) {
    ConstantValue value;
    if (a->kind == AttributeClass::constant) {
      value.bytes = number_bytes(a->value);
    } else if (a->kind == AttributeClass::block) {
      const auto begin = part_.info().bytes.begin() + static_cast<std::ptrdiff_t>(a->value);
      value.bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(a->size));
    }
    if (!value.bytes.empty()) variable.location = std::move(value);
  }
}

Location location_at(const Variable& variable, std::uint32_t instruction) {
  if (variable.ranges.empty()) return variable.location;
  for (const Variable::Range& range : variable.ranges)
    if (range.code.contains(instruction)) return range.location;
  return NoValue{"it is not computed yet, or no longer needed"};
}

}  // namespace warpgrind::debuginfo
