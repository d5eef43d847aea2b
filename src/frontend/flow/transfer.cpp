// Transfer functions for each opcode, and the registers that an instruction reads and writes.
#include "flow/transfer.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/wrapping.h"

namespace warpgrind::flow {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using Operation = ptx::IntegerOperation;
using ptx::SpecialRegister;

namespace {

constexpr std::uint8_t kAllZeros = 63;

Form affine_form(std::int64_t kx, std::int64_t ky, std::uint8_t zeros) {
  Form f;
  f.kind = FormKind::affine;
  f.kx = kx;
  f.ky = ky;
  f.zeros = zeros;
  return f;
}

std::uint8_t zeros_of(std::int64_t value) {
  return value == 0 ? kAllZeros : static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint64_t>(value)));
}

Form special_register_form(SpecialRegister s, const LaneLayout& layout) {
  using S = SpecialRegister;
  const bool linear = layout.row_length == 32;
  switch (s) {
    case S::tid_x:
      if (layout.general) return varying_form();
      return affine_form(1, 0, linear ? 5 : kAllZeros);
    case S::tid_y:
      if (layout.general) return varying_form();
      return layout.rows() == 1 ? uniform_form(0) : affine_form(0, 1, 0);
    case S::tid_z:
      return layout.general ? varying_form() : uniform_form(0);
    case S::laneid:
      return affine_form(1, layout.rows() == 1 ? 0 : layout.row_length, kAllZeros);
    case S::lanemask_eq:
    case S::lanemask_le:
    case S::lanemask_lt:
    case S::lanemask_ge:
    case S::lanemask_gt:
      return varying_form();
    default:
      return uniform_form(0);
  }
}

bool any_of_kind(const Instruction& i, std::size_t from, const std::vector<Form>& forms, const LaneLayout& layout,
                 const ptx::Function& f, auto predicate) {
  for (std::size_t k = from; k < i.operands.size(); ++k)
    if (predicate(operand_form(i.operands[k], forms, layout, f))) return true;
  return false;
}

// Truncates a coefficient of an affine form to a signed 32-bit number.
std::int64_t coefficient(std::int64_t k) {
  return static_cast<std::int32_t>(k);
}

std::optional<std::int64_t> times(std::optional<std::int64_t> k, std::optional<std::int64_t> by) {
  if (k && *k == 0) return 0;
  if (k && by) return coefficient(wrapping_multiply(*k, *by));
  return std::nullopt;
}

std::optional<std::int64_t> plus(std::optional<std::int64_t> a, std::optional<std::int64_t> b, bool minus) {
  if (!a || !b) return std::nullopt;
  return coefficient(minus ? *a - *b : *a + *b);
}

bool is_lane_form(const Form& f) {
  return f.kind == FormKind::affine || f.kind == FormKind::uniform;
}

Form add_forms(const Form& a, const Form& b, bool minus, unsigned width) {
  if (a.kind == FormKind::varying || b.kind == FormKind::varying) return varying_form();
  if (a.kind == FormKind::undefined || b.kind == FormKind::undefined) return Form{};
  if (a.kind == FormKind::uniform && b.kind == FormKind::uniform) return uniform_form(std::min(a.zeros, b.zeros));
  if (width == 64) {
    if (a.kind == FormKind::wide && b.kind == FormKind::uniform) return a;
    if (a.kind == FormKind::uniform && b.kind == FormKind::wide) {
      Form f = b;
      if (minus) f.scale = wrapping_negative(f.scale);
      return f;
    }
    return varying_form();
  }
  if (width != 32 || !is_lane_form(a) || !is_lane_form(b)) return varying_form();
  Form f;
  f.kind = FormKind::affine;
  f.kx = plus(a.kx, b.kx, minus);
  f.ky = plus(a.ky, b.ky, minus);
  f.zeros = std::min(a.zeros, b.zeros);
  return f;
}

// a * b modulo 2^width, where one factor is uniform.
Form multiply_forms(const Form& a, const Form& b, std::optional<std::int64_t> la, std::optional<std::int64_t> lb,
                    unsigned width) {
  if (a.kind == FormKind::undefined || b.kind == FormKind::undefined) return Form{};
  const auto zeros = static_cast<std::uint8_t>(std::min<unsigned>(kAllZeros, unsigned{a.zeros} + b.zeros));
  if (a.kind == FormKind::uniform && b.kind == FormKind::uniform) return uniform_form(zeros);
  const bool first = b.kind == FormKind::uniform;  // the other factor, a, varies over the lanes
  const Form& lanes = first ? a : b;
  const Form& other = first ? b : a;
  const std::optional<std::int64_t> by = first ? lb : la;
  if (other.kind != FormKind::uniform) return varying_form();
  Form f = lanes;
  f.zeros = zeros;
  if (lanes.kind == FormKind::wide && width == 64) {
    if (!by || *by == 0) return varying_form();
    f.scale = wrapping_multiply(f.scale, *by);
    return f;
  }
  if (lanes.kind != FormKind::affine || width != 32) return varying_form();
  f.kx = times(lanes.kx, by);
  f.ky = times(lanes.ky, by);
  return f;
}

Form widen(const Form& f, bool is_signed, std::int64_t scale) {
  if (f.kind != FormKind::affine) return f;
  Form out = f;
  out.kind = FormKind::wide;
  out.is_signed = is_signed;
  out.scale = scale;
  return out;
}

Form convert_form(const Instruction& i, const Form& source) {
  const ptx::ScalarType to = i.type(0), from = i.type(1);
  if (source.kind == FormKind::uniform || source.kind == FormKind::undefined)
    return source.kind == FormKind::uniform ? uniform_form(0) : source;
  if (!ptx::is_integer(to) || !ptx::is_integer(from) || i.has(Modifier::sat)) return varying_form();
  const unsigned to_bits = ptx::bits(to), from_bits = ptx::bits(from);
  if (source.kind == FormKind::affine && from_bits == 32) {
    if (to_bits == 32) return source;
    if (to_bits == 64) return widen(source, ptx::is_signed(from), 1);
  }
  if (source.kind == FormKind::wide && from_bits == 64) {
    if (to_bits == 64) return source;
    if (to_bits == 32) {
      Form f = source;
      f.kind = FormKind::affine;
      f.kx = times(source.kx, source.scale);
      f.ky = times(source.ky, source.scale);
      f.zeros = 0;
      return f;
    }
  }
  return varying_form();
}

// and, or, shr.
Form bit_form(const Instruction& i, const Form& a, const Form& b, const LaneLayout& layout) {
  if (a.kind == FormKind::undefined || b.kind == FormKind::undefined) return Form{};
  if (a.kind == FormKind::uniform && b.kind == FormKind::uniform) return uniform_form(0);
  const std::optional<std::int64_t> lit = literal(i.operands[2]);
  if (a.kind != FormKind::affine || !lit || ptx::bits(i.type()) != 32) return varying_form();
  const std::uint64_t limit = lane_part_limit(a, layout);
  // True if the base bits lie above the lane bits.
  const bool carries_nothing = limit != 0 && a.zeros < 63 ? limit <= (1ull << a.zeros) : limit != 0;
  const Operation operation = ptx::info(i.opcode).integer;
  if (operation == Operation::disjunction) return or_is_add(a, *lit) ? a : varying_form();
  if (operation == Operation::conjunction) {
    const auto mask = static_cast<std::uint32_t>(*lit);
    if (!carries_nothing || mask == 0 || (mask & (mask + 1)) != 0) return varying_form();
    if (limit > std::uint64_t{mask} + 1) return varying_form();  // the mask cuts into the lane bits
    Form f = a;
    f.zeros = 0;
    return f;
  }
  WG_ASSERT(operation == Operation::shift_right);
  if (carries_nothing && *lit >= 0 && *lit < 32 && limit <= (1ull << *lit)) return uniform_form(0);
  return varying_form();
}

// True if the memory instruction's address is the same in all lanes.
bool address_is_uniform(const Operand& address, const std::vector<Form>& forms) {
  return address.base != OperandKind::reg || forms[address.index].kind == FormKind::uniform;
}

Form load_form(const Instruction& i, const std::vector<Form>& forms, const ptx::Function& f) {
  const Operand& address = i.operands[1];
  if (address.base == OperandKind::reg && forms[address.index].kind == FormKind::undefined) return Form{};
  if (!address_is_uniform(address, forms)) return varying_form();
  switch (i.space) {
    case StateSpace::local:
      return varying_form();
    case StateSpace::param:
      // An address in a register always refers to the kernel's parameters: those of a function that have an address are
      // local memory.
      return address.base != OperandKind::variable || (f.is_entry && address.index < f.parameter_count)
                 ? uniform_form(0)
                 : varying_form();
    case StateSpace::generic:
    case StateSpace::none:
      return varying_form();  // may be local memory
    default:
      return uniform_form(0);
  }
}

Form default_form(const Instruction& i, std::size_t destinations, const std::vector<Form>& forms,
                  const LaneLayout& layout, const ptx::Function& f) {
  if (any_of_kind(i, destinations, forms, layout, f, [](const Form& x) { return x.kind == FormKind::undefined; }))
    return Form{};
  if (any_of_kind(i, destinations, forms, layout, f, [](const Form& x) { return x.kind != FormKind::uniform; }))
    return varying_form();
  return uniform_form(0);
}

// mul, and the product of mad.
Form product_form(const Instruction& i, const Form& a, const Form& b) {
  const ptx::ScalarType type = i.type();
  const unsigned width = ptx::bits(type);
  const auto la = literal(i.operands[1]), lb = literal(i.operands[2]);
  if (!i.has(Modifier::wide)) return multiply_forms(a, b, la, lb, width);
  if (a.kind == FormKind::uniform && b.kind == FormKind::uniform) return uniform_form(0);
  if (a.kind == FormKind::undefined || b.kind == FormKind::undefined) return Form{};
  if (width == 32 && a.kind == FormKind::affine && lb && *lb > 0) return widen(a, ptx::is_signed(type), *lb);
  if (width == 32 && b.kind == FormKind::affine && la && *la > 0) return widen(b, ptx::is_signed(type), *la);
  return varying_form();
}

bool computes_form(const Instruction& i) {
  const ptx::ScalarType type = i.type();
  const bool plain = ptx::is_integer(type) && !i.has(Modifier::sat) && !i.has(Modifier::cc) && ptx::bits(type) >= 32 &&
                     ptx::name(type).find('x') == std::string_view::npos;
  return plain && !i.has(Modifier::hi);
}

}  // namespace

std::optional<std::int64_t> literal(const Operand& operand) {
  if (operand.kind != OperandKind::immediate || operand.literal != ptx::Literal::integer) return std::nullopt;
  return static_cast<std::int64_t>(operand.bits);
}

std::uint64_t lane_part_limit(const Form& form, const LaneLayout& layout) {
  if (!form.kx || !form.ky || *form.kx < 0 || *form.ky < 0) return 0;
  const std::uint64_t x = layout.row_length - 1, y = layout.rows() - 1;
  return static_cast<std::uint64_t>(*form.kx) * x + static_cast<std::uint64_t>(*form.ky) * y + 1;
}

bool or_is_add(const Form& a, std::int64_t lit) {
  if (!a.kx || !a.ky || lit < 0) return false;
  const unsigned zeros = std::min({unsigned{a.zeros}, unsigned{zeros_of(*a.kx)}, unsigned{zeros_of(*a.ky)}});
  return zeros >= 32 || (static_cast<std::uint64_t>(lit) >> zeros) == 0;
}

Form operand_form(const Operand& operand, const std::vector<Form>& forms, const LaneLayout& layout,
                  const ptx::Function& function) {
  switch (operand.kind) {
    case OperandKind::reg:
      return forms[operand.index];
    case OperandKind::sreg:
      return special_register_form(operand.sreg, layout);
    case OperandKind::immediate:
      return uniform_form(operand.literal == ptx::Literal::integer ? zeros_of(static_cast<std::int64_t>(operand.bits))
                                                                   : 0);
    case OperandKind::vector: {
      bool undefined = false;
      for (const Operand& e : operand.elements) {
        const Form f = operand_form(e, forms, layout, function);
        if (f.kind == FormKind::undefined)
          undefined = true;
        else if (f.kind != FormKind::uniform)
          return varying_form();
      }
      return undefined ? Form{} : uniform_form(0);
    }
    case OperandKind::address:
      if (operand.base == OperandKind::reg)
        return forms[operand.index].kind == FormKind::uniform ? uniform_form(0) : forms[operand.index];
      return uniform_form(0);
    default:
      return uniform_form(0);
  }
}

namespace {

bool same_members(const Instruction& i, const std::vector<Form>& forms, const LaneLayout& layout,
                  const ptx::Function& f) {
  return !i.has(Modifier::sync) || operand_form(i.operands.back(), forms, layout, f).kind == FormKind::uniform;
}

Form computed_form(const Instruction& i, const std::vector<Form>& forms, const LaneLayout& layout,
                   const ptx::Function& f) {
  const auto form = [&](std::size_t k) { return operand_form(i.operands[k], forms, layout, f); };
  const unsigned width = ptx::bits(i.type());
  const bool computes = computes_form(i);
  switch (Operation{ptx::info(i.opcode).integer}) {
    case Operation::copy:
      if (i.operands[1].kind == OperandKind::vector || i.operands[0].kind == OperandKind::vector) break;
      return form(1);
    case Operation::address:
      return form(1);
    case Operation::conversion:
      if (i.types.size() != 2 || i.operands.size() != 2) break;
      return convert_form(i, form(1));
    case Operation::load:
      return load_form(i, forms, f);
    case Operation::sum:
      if (computes) return add_forms(form(1), form(2), false, width);
      break;
    case Operation::difference:
      if (computes) return add_forms(form(1), form(2), true, width);
      break;
    case Operation::negative:
      if (computes) return add_forms(uniform_form(kAllZeros), form(1), true, width);
      break;
    case Operation::complement:  // -1 - x, used for n - 1 - i
      if (computes) return add_forms(uniform_form(0), form(1), true, width);
      break;
    case Operation::product:
      if (computes) return product_form(i, form(1), form(2));
      break;
    case Operation::product_and_sum:
      if (computes)
        return add_forms(product_form(i, form(1), form(2)), form(3), false, i.has(Modifier::wide) ? 2 * width : width);
      break;
    case Operation::shift_left: {
      const auto shift = literal(i.operands[2]);
      if (!computes || !shift || *shift < 0 || *shift >= static_cast<std::int64_t>(width)) break;
      const Form factor = uniform_form(static_cast<std::uint8_t>(*shift));
      return multiply_forms(form(1), factor, std::nullopt, std::int64_t{1} << *shift, width);
    }
    case Operation::conjunction:
    case Operation::disjunction:
    case Operation::shift_right:
      if (computes) return bit_form(i, form(1), form(2), layout);
      break;
    case Operation::other:
    case Operation::exclusive:
    case Operation::table:
    case Operation::product_24:
    case Operation::product_24_and_sum:
    case Operation::extreme:
    case Operation::remainder:
    case Operation::selection:
    case Operation::comparison:
      break;
  }
  return default_form(i, 1, forms, layout, f);
}

}  // namespace

Form result_form(const Instruction& i, std::size_t d, const std::vector<Form>& forms, const LaneLayout& layout,
                 const ptx::Function& f) {
  const ptx::OpcodeInfo& info = ptx::info(i.opcode);
  switch (info.result) {
    case ptx::ResultForm::varying:
      return varying_form();
    case ptx::ResultForm::uniform:
      return uniform_form(0);
    // If the membermask is smaller than the set of active lanes, the lanes in the mask still agree. Lanes outside it
    // have no defined result.
    case ptx::ResultForm::among_members:
      return d == 0 && same_members(i, forms, layout, f) ? uniform_form(0) : varying_form();
    case ptx::ResultForm::computed:
      return computed_form(i, forms, layout, f);
    case ptx::ResultForm::by_sources:
      break;
  }
  return default_form(i, i.has_second_destination ? 2u : unsigned{info.destinations}, forms, layout, f);
}

namespace {

void collect(const Operand& o, std::vector<ptx::RegId>& out) {
  if (o.kind == OperandKind::reg || (o.kind == OperandKind::address && o.base == OperandKind::reg))
    out.push_back(o.index);
  for (const Operand& e : o.elements) collect(e, out);
}

}  // namespace

std::size_t destination_operands(const Instruction& i) {
  if ((i.opcode == Opcode::bar || i.opcode == Opcode::barrier) && i.has(Modifier::red)) return 1;
  const std::size_t most =
      i.has_second_destination ? 2 : std::min<std::size_t>(ptx::info(i.opcode).destinations, i.operands.size());
  // mbarrier.arrive and similar instructions may be written without their destination.
  std::size_t n = 0;
  while (n < most && i.operands[n].kind != OperandKind::address) ++n;
  return n;
}

void registers_read(const Instruction& i, std::vector<ptx::RegId>& out) {
  out.clear();
  if (i.guard) out.push_back(i.guard.reg);
  for (std::size_t k = ptx::info(i.opcode).has(ptx::Effects::updates) ? 0 : destination_operands(i);
       k < i.operands.size(); ++k)
    collect(i.operands[k], out);
  for (const Operand& a : i.arguments) collect(a, out);
}

namespace {

// Calls found(register, place) for each register that the instruction writes.
template <class Found>
void each_result(const Instruction& i, Found found) {
  std::size_t place = 0;
  const auto pass = [&](const Operand& o) {
    if (o.kind == OperandKind::reg) found(o.index, place);
    ++place;
  };
  for (std::size_t k = 0; k < destination_operands(i); ++k) {
    if (i.operands[k].kind != OperandKind::vector) pass(i.operands[k]);
    for (const Operand& e : i.operands[k].elements) pass(e);
  }
  for (const Operand& r : i.results) pass(r);
}

}  // namespace

void registers_written(const Instruction& i, std::vector<ptx::RegId>& out) {
  out.clear();
  each_result(i, [&](ptx::RegId r, std::size_t) { out.push_back(r); });
}

void results_written(const Instruction& i, std::vector<WrittenRegister>& out) {
  out.clear();
  each_result(i, [&](ptx::RegId r, std::size_t place) { out.push_back({r, place}); });
}

}  // namespace warpgrind::flow
