#include "checkers/lane_values.h"

#include <algorithm>

#include "base/assert.h"
#include "flow/forms.h"
#include "ptx/opcode.h"
#include "ptx/types.h"

namespace warpgrind::checkers {

namespace {

using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;

struct IntegerType {
  unsigned width = 0;  // bits
  bool is_signed = false;
};

// nullopt: a floating-point, packed or opaque type.
std::optional<IntegerType> integer_type(ScalarType t) {
  switch (t) {
    case ScalarType::s8:
    case ScalarType::s16:
    case ScalarType::s32:
    case ScalarType::s64:
      return IntegerType{ptx::bits(t), true};
    case ScalarType::u8:
    case ScalarType::u16:
    case ScalarType::u32:
    case ScalarType::u64:
    case ScalarType::b8:
    case ScalarType::b16:
    case ScalarType::b32:
    case ScalarType::b64:
    case ScalarType::pred:
      return IntegerType{ptx::bits(t), false};
    default:
      return std::nullopt;
  }
}

std::uint64_t truncated(std::uint64_t v, unsigned width) {
  return width >= 64 ? v : v & ((std::uint64_t{1} << width) - 1);
}

std::int64_t extended(std::uint64_t v, unsigned width) {
  return static_cast<std::int64_t>(v << (64 - width)) >> (64 - width);
}

// The value as its type reads it, extended to 64 bits.
std::uint64_t read_as(IntegerType t, std::uint64_t v) {
  return t.is_signed ? static_cast<std::uint64_t>(extended(v, t.width)) : truncated(v, t.width);
}

std::optional<bool> compared(const ptx::Instruction& i, IntegerType t, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t x = read_as(t, a), y = read_as(t, b);
  const bool below = t.is_signed ? static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y) : x < y;
  if (i.has(Modifier::eq)) return x == y;
  if (i.has(Modifier::ne)) return x != y;
  if (i.has(Modifier::lt) || i.has(Modifier::lo)) return below;
  if (i.has(Modifier::le) || i.has(Modifier::ls)) return below || x == y;
  if (i.has(Modifier::gt) || i.has(Modifier::hi)) return !below && x != y;
  if (i.has(Modifier::ge) || i.has(Modifier::hs)) return !below;
  return std::nullopt;
}

std::uint64_t shifted(const ptx::Instruction& i, IntegerType t, std::uint64_t v, std::uint64_t by) {
  const std::uint64_t n = truncated(by, 32);
  if (i.opcode == Opcode::shl) return n >= t.width ? 0 : v << n;
  if (t.is_signed) return static_cast<std::uint64_t>(extended(v, t.width) >> std::min<std::uint64_t>(n, 63));
  return n >= t.width ? 0 : truncated(v, t.width) >> n;
}

}  // namespace

LaneValues::LaneValues(const ptx::Function& function, const LaneOfBlock& lane)
    : function_(function),
      lane_(lane),
      definition_(function.registers.size(), ptx::kNoId),
      state_(function.registers.size(), State::open),
      value_(function.registers.size(), 0) {
  std::vector<ptx::RegId> written;
  for (std::uint32_t n = 0; n < function.body.size(); ++n) {
    written.clear();
    flow::registers_written(function.body[n], written);
    for (const ptx::RegId r : written) {
      // A second definition, a guarded one, or one of several results.
      if (definition_[r] != ptx::kNoId || function.body[n].guard || written.size() != 1) state_[r] = State::unknown;
      definition_[r] = n;
    }
  }
}

std::optional<std::uint64_t> LaneValues::of(ptx::RegId reg) {
  if (reg >= state_.size()) return std::nullopt;
  if (state_[reg] == State::open) {
    constexpr unsigned kDeepest = 100;  // instructions from tid to a guard; unrolled loops have chains of thousands
    state_[reg] = State::running;       // a cycle ends as unknown
    ++depth_;
    const std::optional<std::uint64_t> v =
        definition_[reg] == ptx::kNoId || depth_ > kDeepest ? std::nullopt : result(function_.body[definition_[reg]]);
    --depth_;
    state_[reg] = v ? State::known : State::unknown;
    value_[reg] = v.value_or(0);
  }
  if (state_[reg] != State::known) return std::nullopt;
  return value_[reg];
}

std::optional<bool> LaneValues::of(const ptx::Guard& guard) {
  const std::optional<std::uint64_t> v = of(guard.reg);
  if (!v) return std::nullopt;
  return (*v != 0) != guard.negated;
}

std::optional<std::uint64_t> LaneValues::of(const ptx::Operand& o) {
  if (o.component != 0xff || o.selector != 0) return std::nullopt;
  if (o.kind == ptx::OperandKind::immediate && o.literal == ptx::Literal::integer) return o.bits;
  if (o.kind == ptx::OperandKind::sreg) return special(o.sreg);
  if (o.kind != ptx::OperandKind::reg) return std::nullopt;
  const std::optional<std::uint64_t> v = of(o.index);
  if (!v || !o.negated) return v;
  return *v == 0;
}

std::optional<std::uint64_t> LaneValues::special(ptx::SpecialRegister r) const {
  using S = ptx::SpecialRegister;
  switch (r) {
    case S::tid_x:
      return lane_.thread.x;
    case S::tid_y:
      return lane_.thread.y;
    case S::tid_z:
      return lane_.thread.z;
    case S::ntid_x:
      return lane_.threads.x;
    case S::ntid_y:
      return lane_.threads.y;
    case S::ntid_z:
      return lane_.threads.z;
    case S::nctaid_x:
      return lane_.blocks.x;
    case S::nctaid_y:
      return lane_.blocks.y;
    case S::nctaid_z:
      return lane_.blocks.z;
    case S::laneid:
      return lane_.lane;
    default:
      return std::nullopt;
  }
}

std::optional<std::uint64_t> LaneValues::result(const ptx::Instruction& i) {
  // The compared types of setp and selp are those of the operands; the others' first type is that of the result.
  const std::optional<IntegerType> t = integer_type(i.type());
  if (!t || i.has_second_destination || i.vector > 1 || i.has(Modifier::sat) || i.has(Modifier::cc) ||
      i.operands.size() < 2 || i.operands.size() > 4)
    return std::nullopt;
  std::uint64_t v[3] = {};
  for (std::size_t k = 1; k < i.operands.size(); ++k) {
    const std::optional<std::uint64_t> o = of(i.operands[k]);
    if (!o) return std::nullopt;
    v[k - 1] = *o;
  }
  const std::size_t sources = i.operands.size() - 1;
  const auto given = [&](std::size_t n, std::uint64_t x) -> std::optional<std::uint64_t> {
    if (sources != n) return std::nullopt;
    return truncated(x, t->width);
  };
  using Op = ptx::IntegerOperation;
  const Op operation = ptx::info(i.opcode).integer;
  switch (operation) {
    case Op::copy:
      return given(1, v[0]);
    case Op::conversion: {
      const std::optional<IntegerType> from = integer_type(i.type(1));
      return from ? given(1, read_as(*from, v[0])) : std::nullopt;
    }
    case Op::complement:
      return given(1, ~v[0]);
    case Op::negative:
      return given(1, 0 - v[0]);
    case Op::sum:
      return given(2, v[0] + v[1]);
    case Op::difference:
      return given(2, v[0] - v[1]);
    case Op::conjunction:
      return given(2, v[0] & v[1]);
    case Op::disjunction:
      return given(2, v[0] | v[1]);
    case Op::exclusive:
      return given(2, v[0] ^ v[1]);
    case Op::shift_left:
    case Op::shift_right:
      return given(2, shifted(i, *t, v[0], v[1]));
    case Op::product:
    case Op::product_and_sum: {
      const std::uint64_t added = operation == Op::product_and_sum ? v[2] : 0;
      if (sources != (operation == Op::product_and_sum ? 3u : 2u)) return std::nullopt;
      if (i.has(Modifier::lo)) return truncated(v[0] * v[1] + added, t->width);
      if (i.has(Modifier::wide)) return truncated(read_as(*t, v[0]) * read_as(*t, v[1]) + added, 2 * t->width);
      return std::nullopt;
    }
    case Op::comparison: {
      const std::optional<bool> is = sources == 2 ? compared(i, *t, v[0], v[1]) : std::nullopt;
      return is ? std::optional<std::uint64_t>(*is) : std::nullopt;
    }
    case Op::selection:
      return given(3, v[2] != 0 ? v[0] : v[1]);
    case Op::other:
    case Op::load:
    case Op::address:
    case Op::table:
    case Op::product_24:
    case Op::product_24_and_sum:
    case Op::extreme:
    case Op::remainder:
      return std::nullopt;
  }
  WG_ASSERT(false);
  return std::nullopt;
}

}  // namespace warpgrind::checkers
