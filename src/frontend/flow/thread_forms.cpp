// Symbolic evaluation of registers, on demand, for one launch.
#include "flow/thread_forms.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/assert.h"
#include "ptx/opcode.h"
#include "ptx/types.h"

namespace warpgrind::flow {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::SpecialRegister;

namespace {

using Value = std::optional<ThreadForm>;

// Limit of all numbers, so that their sums do not overflow.
constexpr std::int64_t kLargestFactor = std::int64_t{1} << 60;

bool moderate(__int128 n) {
  return n > -kLargestFactor && n < kLargestFactor;
}

Value sum(const Value& a, const Value& b, std::int64_t times) {
  if (!a || !b) return std::nullopt;
  ThreadForm out;
  const auto add = [&](std::int64_t x, std::int64_t y, std::int64_t* to) {
    const __int128 n = static_cast<__int128>(x) + static_cast<__int128>(y) * times;
    *to = static_cast<std::int64_t>(n);
    return moderate(n);
  };
  bool good = add(a->constant, b->constant, &out.constant);
  for (unsigned k = 0; k < ThreadForm::kIndexes; ++k) good &= add(a->steps[k], b->steps[k], &out.steps[k]);
  return good ? Value(out) : std::nullopt;
}

bool is_number(const Value& v) {
  return v && std::all_of(v->steps.begin(), v->steps.end(), [](std::int64_t s) { return s == 0; });
}

Value times(const Value& a, const Value& b) {
  if (is_number(b)) return sum(ThreadForm{}, a, b->constant);
  return is_number(a) ? sum(ThreadForm{}, b, a->constant) : std::nullopt;
}

Value number(std::int64_t n) {
  return moderate(n) ? Value(ThreadForm{n, {}}) : std::nullopt;
}

}  // namespace

ThreadForms::ThreadForms(const Definitions& definitions, const LaunchNumbers& launch)
    : definitions_(definitions),
      launch_(launch),
      state_(definitions.function.registers.size(), State::unknown),
      values_(definitions.function.registers.size()) {}

std::optional<ThreadForms::Range> ThreadForms::range(const ThreadForm& form, const LaunchNumbers& launch) {
  const auto extents = launch.extents();
  __int128 low = form.constant, high = form.constant;
  for (unsigned k = 0; k < ThreadForm::kIndexes; ++k) {
    if (extents[k] == 0) return std::nullopt;
    const __int128 most = static_cast<__int128>(form.steps[k]) * static_cast<std::int64_t>(extents[k] - 1);
    (most < 0 ? low : high) += most;
  }
  if (!moderate(low) || !moderate(high)) return std::nullopt;
  return Range{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

// A 32-bit value is known as a signed number. It is unknown if it wraps around in some thread.
Value ThreadForms::fitting(const Value& v, unsigned bits) const {
  if (!v || bits == 64) return v;
  if (bits != 32) return std::nullopt;
  const auto all = range(*v, launch_);
  if (!all || all->low < std::numeric_limits<std::int32_t>::min() ||
      all->high > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  return v;
}

Value ThreadForms::special(SpecialRegister s) const {
  const auto index = [](unsigned k) {
    ThreadForm f;
    f.steps[k] = 1;
    return f;
  };
  switch (s) {
    case SpecialRegister::tid_x:
      return index(0);
    case SpecialRegister::tid_y:
      return index(1);
    case SpecialRegister::tid_z:
      return index(2);
    case SpecialRegister::ctaid_x:
      return index(3);
    case SpecialRegister::ctaid_y:
      return index(4);
    case SpecialRegister::ctaid_z:
      return index(5);
    case SpecialRegister::ntid_x:
      return number(launch_.block.x);
    case SpecialRegister::ntid_y:
      return number(launch_.block.y);
    case SpecialRegister::ntid_z:
      return number(launch_.block.z);
    case SpecialRegister::nctaid_x:
      return number(launch_.grid.x);
    case SpecialRegister::nctaid_y:
      return number(launch_.grid.y);
    case SpecialRegister::nctaid_z:
      return number(launch_.grid.z);
    default:
      return std::nullopt;
  }
}

Value ThreadForms::of(const Operand& o, unsigned bits) {
  switch (o.kind) {
    case OperandKind::reg:
      return o.negated || o.component != 0xff ? std::nullopt : of_register(o.index);
    case OperandKind::sreg:
      return fitting(special(o.sreg), bits);
    case OperandKind::immediate:
      if (o.literal != ptx::Literal::integer) return std::nullopt;
      return bits == 32 ? number(static_cast<std::int32_t>(o.bits)) : number(static_cast<std::int64_t>(o.bits));
    default:
      return std::nullopt;
  }
}

Value ThreadForms::of_register(ptx::RegId r) {
  // Asked: a value that depends on itself, in a loop.
  if (r >= values_.size() || state_[r] == State::in_progress) return std::nullopt;
  if (state_[r] == State::known) return values_[r];
  state_[r] = State::in_progress;
  if (definitions_.of[r].size() == 1 && !definitions_.unwritten[r]) {
    const Instruction& i = definitions_.function.body[definitions_.of[r].front()];
    const bool alone = !i.guard && !i.operands.empty() && i.operands[0].kind == OperandKind::reg &&
                       i.operands[0].index == r && !i.has_second_destination;
    if (alone) values_[r] = result(i);
  }
  state_[r] = State::known;
  return values_[r];
}

Value ThreadForms::result(const Instruction& i) {
  const unsigned bits = ptx::is_integer(i.type()) ? ptx::bits(i.type()) : 0;
  const bool plain = !i.has(Modifier::sat) && !i.has(Modifier::cc) && i.vector == 1 && (bits == 32 || bits == 64);
  if (!plain || i.operands.size() < 2) return std::nullopt;
  using Op = ptx::IntegerOperation;
  const Op operation = ptx::info(i.opcode).integer;
  switch (operation) {
    case Op::load:
      return loaded(i);
    case Op::copy:
      return of(i.operands[1], bits);
    case Op::address:
      return i.space == StateSpace::global ? of(i.operands[1], bits) : std::nullopt;
    case Op::conversion:
      return converted(i);
    case Op::sum:
    case Op::difference:
      return fitting(sum(of(i.operands[1], bits), of(i.operands[2], bits), operation == Op::sum ? 1 : -1), bits);
    case Op::negative:
      return fitting(sum(number(0), of(i.operands[1], bits), -1), bits);
    case Op::complement:
      return fitting(sum(number(-1), of(i.operands[1], bits), -1), bits);
    case Op::product:
    case Op::product_and_sum:
      return product(i);
    case Op::shift_left:
      return shifted(i);
    case Op::disjunction:
      return joined(i);
    case Op::other:
    case Op::conjunction:
    case Op::exclusive:
    case Op::table:
    case Op::product_24:
    case Op::product_24_and_sum:
    case Op::shift_right:
    case Op::extreme:
    case Op::remainder:
    case Op::selection:
    case Op::comparison:
      return std::nullopt;
  }
  WG_ASSERT(false);
  return std::nullopt;
}

Value ThreadForms::loaded(const Instruction& i) {
  const Operand& from = i.operands[1];
  const ptx::Function& f = definitions_.function;
  const bool parameter = i.space == StateSpace::param && f.is_entry && from.kind == OperandKind::address &&
                         from.base == OperandKind::variable && from.scope == ptx::Scope::function &&
                         from.index < f.parameter_count && from.offset >= 0;
  const unsigned bits = ptx::bits(i.type());
  // A wider register is sign- or zero-extended.
  if (!parameter || !launch_.parameter || ptx::bits(f.registers[i.operands[0].index].type) != bits) return std::nullopt;
  const auto value = launch_.parameter(from.index, static_cast<std::uint64_t>(from.offset), bits / 8);
  if (!value) return std::nullopt;
  return number(bits == 32 ? static_cast<std::int32_t>(*value) : static_cast<std::int64_t>(*value));
}

Value ThreadForms::converted(const Instruction& i) {
  const ptx::ScalarType to = i.type(0), from = i.type(1);
  if (!ptx::is_integer(from) || (ptx::bits(from) != 32 && ptx::bits(from) != 64)) return std::nullopt;
  const Value v = of(i.operands[1], ptx::bits(from));
  if (!v) return std::nullopt;
  const auto all = range(*v, launch_);
  // A negative value changes when it is zero-extended.
  if (!all || (ptx::bits(from) < ptx::bits(to) && !ptx::is_signed(from) && all->low < 0)) return std::nullopt;
  return fitting(v, ptx::bits(to));
}

Value ThreadForms::product(const Instruction& i) {
  const unsigned bits = ptx::bits(i.type());
  const bool wide = i.has(Modifier::wide);
  if (i.has(Modifier::hi) || (wide && bits != 32)) return std::nullopt;
  const Value a = of(i.operands[1], bits), b = of(i.operands[2], bits);
  if (!a || !b) return std::nullopt;
  if (wide && !ptx::is_signed(i.type()))
    for (const Value& v : {a, b})
      if (const auto all = range(*v, launch_); !all || all->low < 0) return std::nullopt;
  Value out = times(a, b);
  if (!wide) out = fitting(out, bits);
  if (i.opcode == Opcode::mul || !out) return out;
  const unsigned sum_bits = wide ? 64 : bits;
  return fitting(sum(out, of(i.operands[3], sum_bits), 1), sum_bits);
}

Value ThreadForms::shifted(const Instruction& i) {
  const unsigned bits = ptx::bits(i.type());
  const Value by = of(i.operands[2], 32);
  if (!is_number(by) || by->constant < 0 || by->constant >= 32) return std::nullopt;
  return fitting(times(of(i.operands[1], bits), number(std::int64_t{1} << by->constant)), bits);
}

// `or` is an addition if the operands have no bit in common; LLVM writes such additions as `or`.
Value ThreadForms::joined(const Instruction& i) {
  const unsigned bits = ptx::bits(i.type());
  Value form = of(i.operands[1], bits), low = of(i.operands[2], bits);
  if (is_number(form)) std::swap(form, low);
  if (!form || !is_number(low) || low->constant < 0) return std::nullopt;
  std::uint64_t used = static_cast<std::uint64_t>(form->constant);
  for (const std::int64_t s : form->steps) used |= static_cast<std::uint64_t>(s);
  const std::uint64_t free_bits = used == 0 ? ~std::uint64_t{0} : (used & -used) - 1;
  if ((static_cast<std::uint64_t>(low->constant) & ~free_bits) != 0) return std::nullopt;
  return fitting(sum(form, low, 1), bits);
}

Value ThreadForms::address(const Operand& operand) {
  if (operand.kind != OperandKind::address || operand.base != OperandKind::reg || !operand.elements.empty())
    return std::nullopt;
  return sum(of_register(operand.index), number(operand.offset), 1);
}

}  // namespace warpgrind::flow
