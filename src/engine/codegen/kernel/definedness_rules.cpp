// Rules for the undefined bits of a result, from those of the sources (kernel/definedness.h).
#include <llvm/IR/Constants.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "codegen/kernel/definedness.h"

namespace warpgrind::jit {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;
using ptx::UndefinedFlow;

namespace {

// Operands whose bits an instruction moves to other places of its result. The other sources control the move.
struct Moved {
  std::size_t first = 0, count = 0;
};
Moved moved_operands(const ptx::Instruction& i) {
  const UndefinedFlow flow = ptx::info(i.opcode).undefined;
  if (flow == UndefinedFlow::moved) return {1, 1};
  if (flow == UndefinedFlow::moved_pair) return {1, 2};
  if (flow != UndefinedFlow::conversion) return {};
  const bool integers = ptx::is_integer(i.type(0)) && ptx::is_integer(i.type(1));
  return integers && !i.has(Modifier::sat) ? Moved{1, 1} : Moved{};
}

// The instruction's own lowering, run on shadows: it reads the shadows of the moved operands and writes a shadow.
class ShadowLowering final : public Lowering {
 public:
  ShadowLowering(Lowering& of, Definedness& definedness, const Position& now, const Moved& moved)
      : Lowering(of, now), of_(of), definedness_(definedness), moved_(moved) {}

  Value* source(std::size_t k, ScalarType type) override {
    return is_moved(k) ? shadow(instruction().operands[k], type) : of_.source(k, type);
  }
  Value* read(const Operand& o, ScalarType type) override { return is_moved(o) ? shadow(o, type) : of_.read(o, type); }
  Value* read_scalar(const Operand& o, ScalarType type) override {
    return is_moved(o) ? shadow(o, type) : of_.read_scalar(o, type);
  }
  Value* read_vector(const Operand& o, ScalarType type) override {
    return is_moved(o) ? splat(shadow(o, type)) : of_.read_vector(o, type);
  }
  bool is_predicate(const Operand& o) const override { return of_.is_predicate(o); }
  bool is_scalar(const Operand& o) const override { return is_moved(o) ? scalar() : of_.is_scalar(o); }
  bool never_subnormal(const Operand&) const override { return false; }
  bool is_read(const Operand& o) const override { return of_.is_read(o); }
  void result(std::size_t k, Value* value, ScalarType type) override { write(instruction().operands[k], value, type); }
  void write(const Operand& o, Value* value, ScalarType type) override {
    if (!value->getType()->isIntOrIntVectorTy()) {
      llvm::Type* e = ir().getIntNTy(value->getType()->getScalarSizeInBits());
      value = ir().CreateBitCast(value, value->getType()->isVectorTy()
                                            ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(e, kWarpSize))
                                            : e);
    }
    definedness_.write(o, value, type);
  }
  Value* undefined(const Operand&, ScalarType) override { return nullptr; }
  void undefined_result(std::size_t, Value*, ScalarType) override {}
  Value* mask_bits() override { return of_.mask_bits(); }
  Value* mask_vector() override { return of_.mask_vector(); }
  Value* context_pointer() override { return of_.context_pointer(); }
  Value* site_number() override { return of_.site_number(); }
  Value* in_own_memory(Value* addresses) override { return of_.in_own_memory(addresses); }
  bool synchronization_observed() const override { return false; }
  Value* carry_slot() override { return of_.carry_slot(); }
  Value* stack_slot() override { return of_.stack_slot(); }
  Meeting meet(const Operand* members, Value* value) override { return of_.meet(members, value); }
  void meet_all() override {}
  Value* barrier(Value* id, Value* threads, llvm::function_ref<Value*()> whole, Value* p, std::uint32_t op) override {
    return of_.barrier(id, threads, whole, p, op);
  }
  bool ends_region() const override { return of_.ends_region(); }
  void end_region(llvm::function_ref<Value*()> come, bool of_block) override { of_.end_region(come, of_block); }
  void cluster_wait(llvm::function_ref<void()> whole) override { of_.cluster_wait(whole); }
  void unsupported(const char* why) override { of_.unsupported(why); }

 private:
  bool is_moved(std::size_t k) const { return k >= moved_.first && k < moved_.first + moved_.count; }
  bool is_moved(const Operand& o) const {
    const std::vector<Operand>& all = instruction().operands;
    for (std::size_t k = moved_.first; k < moved_.first + moved_.count; ++k)
      if (&o == &all[k] || (!all[k].elements.empty() && &o >= all[k].elements.data() &&
                            &o < all[k].elements.data() + all[k].elements.size()))
        return true;
    return false;
  }
  Value* shadow(const Operand& o, ScalarType type) {
    Value* v = definedness_.read(o, type, !scalar());
    if (!v) v = llvm::Constant::getNullValue(definedness_.integer(type, !scalar()));
    return convert_bits(v, type);
  }

  Lowering& of_;
  Definedness& definedness_;
  const Moved moved_;
};

// Possible outcomes of a comparison or a predicate: may it be true, may it be false?
struct Outcomes {
  Value *yes = nullptr, *no = nullptr;
};

}  // namespace

class DefinednessRules {
 public:
  DefinednessRules(Definedness& definedness, Lowering& lowering, const ptx::Instruction& instruction)
      : d_(definedness), f_(definedness.f_), ir_(definedness.ir_), l_(lowering), i_(instruction) {}
  void apply(LowerFunction lower);

 private:
  bool undefined_source() const;
  void all_defined();
  void move(LowerFunction lower, const Moved& moved);
  void logic();
  void table();  // lop3
  void sum();
  void product();
  void comparison();
  void vote();
  void among_lanes();
  void matrix();
  void anything();
  void select();

  std::size_t first() const { return flow::destination_operands(i_); }
  bool values_known() const;
  ScalarType bits_of(ScalarType type) const {
    switch (ptx::bits(type)) {
      case 8:
        return ScalarType::b8;
      case 16:
        return ScalarType::b16;
      case 64:
        return ScalarType::b64;
      case 128:
        return ScalarType::b128;
      default:
        return ScalarType::b32;
    }
  }
  ScalarType carrier(ScalarType t) const { return t == ScalarType::pred ? t : bits_of(t); }
  Value* shadow(std::size_t k, ScalarType type) {
    Value* v = d_.read(i_.operands[k], type, lanes_);
    return v ? v : zero(type);
  }
  Value* zero(ScalarType type) { return llvm::Constant::getNullValue(d_.integer(type, lanes_)); }
  Value* value(std::size_t k, ScalarType type) {
    return lanes_ ? l_.read_vector(i_.operands[k], type) : l_.read_scalar(i_.operands[k], type);
  }
  Value* any_of_sources();  // any bit of any source is undefined; null: no source has a shadow
  Value* smear(Value* u) { return ir_.CreateOr(u, ir_.CreateNeg(u)); }
  Outcomes integers_compared();
  Outcomes of_predicate(std::size_t k);
  Value* combined(const Outcomes& r, std::size_t with);

  Definedness& d_;
  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  Lowering& l_;
  const ptx::Instruction& i_;
  bool lanes_ = true;  // some destination has a shadow per lane
};

namespace {

void each_register(const Operand& o, llvm::function_ref<void(const Operand&)> f) {
  if (o.kind == OperandKind::vector)
    for (const Operand& e : o.elements) each_register(e, f);
  else if (o.kind == OperandKind::reg)
    f(o);
}

}  // namespace

bool DefinednessRules::undefined_source() const {
  for (std::size_t k = first(); k < i_.operands.size(); ++k)
    if (d_.tracks(i_.operands[k])) return true;
  return false;
}

void DefinednessRules::all_defined() {
  const auto define = [this](const Operand& o) {
    each_register(o, [this](const Operand& r) { d_.write(r, nullptr, f_.function.registers[r.index].type); });
  };
  for (std::size_t k = 0; k < first(); ++k) define(i_.operands[k]);
  for (const Operand& o : i_.results) define(o);
}

bool DefinednessRules::values_known() const {
  if (lanes_) return true;
  for (std::size_t k = first(); k < i_.operands.size(); ++k)
    if (!l_.is_scalar(i_.operands[k])) return false;
  return true;
}

void DefinednessRules::apply(LowerFunction lower) {
  bool tracked = false;
  lanes_ = false;
  const auto look = [&](const Operand& o) {
    each_register(o, [&](const Operand& r) {
      if (!d_.tracks(r)) return;
      tracked = true;
      lanes_ |= d_.slots_[r.index].lanes;
    });
  };
  for (std::size_t k = 0; k < first(); ++k) look(i_.operands[k]);
  for (const Operand& o : i_.results) look(o);
  if (!tracked) return;
  if (gives_defined(i_) || !undefined_source()) return all_defined();
  const UndefinedFlow flow = ptx::info(i_.opcode).undefined;
  // Rules that need no values of the sources, or read those of all lanes.
  if (flow == UndefinedFlow::addend) return matrix();
  if (flow == UndefinedFlow::vote) return vote();
  if (flow == UndefinedFlow::members) return among_lanes();
  if (!values_known()) return flow == UndefinedFlow::sum ? sum() : anything();
  switch (flow) {
    case UndefinedFlow::selection:
      return select();
    case UndefinedFlow::moved:
    case UndefinedFlow::moved_pair:
    case UndefinedFlow::conversion:
      if (const Moved moved = moved_operands(i_); moved.count) return move(lower, moved);
      return anything();
    case UndefinedFlow::logic:
      return logic();
    case UndefinedFlow::table:
      return i_.has_second_destination ? anything() : table();
    case UndefinedFlow::sum:
      return sum();
    case UndefinedFlow::product:
      return product();
    case UndefinedFlow::comparison:
      return comparison();
    case UndefinedFlow::any:
      return anything();
    case UndefinedFlow::defined:
    case UndefinedFlow::loaded:
    case UndefinedFlow::lanes:
    case UndefinedFlow::members:
    case UndefinedFlow::vote:
    case UndefinedFlow::addend:
      break;
  }
  WG_ASSERT(false);
}

// If an operand that controls the move has an undefined bit, the whole result is undefined.
void DefinednessRules::move(LowerFunction lower, const Moved& moved) {
  Value* control = nullptr;
  for (std::size_t k = first(); k < i_.operands.size(); ++k) {
    if (k >= moved.first && k < moved.first + moved.count) continue;
    Value* u = i_.operands[k].kind == OperandKind::reg && d_.tracks(i_.operands[k])
                   ? d_.read(i_.operands[k], f_.function.registers[i_.operands[k].index].type, lanes_)
                   : nullptr;
    if (!u) continue;
    u = d_.some(u);
    control = control ? ir_.CreateOr(control, u) : u;
  }
  const bool before = std::exchange(f_.now.scalar, !lanes_);
  ShadowLowering over(l_, d_, f_.now, moved);
  lower(over);
  f_.now.scalar = before;
  if (!control) return;
  const Operand& d = i_.operands[0];
  const ScalarType type = f_.function.registers[d.index].type;
  Value* u = d_.read(d, type, lanes_);
  d_.write(d, ir_.CreateOr(u, ir_.CreateSExt(control, u->getType())), bits_of(type));
}

// An undefined condition makes the bits undefined in which the two sources differ.
void DefinednessRules::select() {
  const ScalarType type = bits_of(i_.type());
  Value *ua = shadow(1, type), *ub = shadow(2, type);
  Value* moved = ir_.CreateSelect(value(3, ScalarType::pred), ua, ub);
  if (Value* c = d_.read(i_.operands[3], ScalarType::pred, lanes_)) {
    Value* differ = ir_.CreateOr(ir_.CreateXor(value(1, type), value(2, type)), ir_.CreateOr(ua, ub));
    moved = ir_.CreateSelect(c, differ, moved);
  }
  d_.write(i_.operands[0], moved, type);
}

void DefinednessRules::logic() {
  const ScalarType type = carrier(i_.type());
  Value* ua = shadow(1, type);
  if (i_.opcode == Opcode::not_) return d_.write(i_.operands[0], ua, type);
  Value* ub = shadow(2, type);
  const auto& a = i_.operands[1];
  const auto& b = i_.operands[2];
  if (i_.opcode == Opcode::xor_) {
    const bool same = a.kind == OperandKind::reg && b.kind == OperandKind::reg && a.index == b.index;
    return d_.write(i_.operands[0], same ? nullptr : ir_.CreateOr(ua, ub), type);
  }
  Value *va = value(1, type), *vb = value(2, type);
  if (i_.opcode == Opcode::or_) {  // for `or`, a 1 bit decides
    va = ir_.CreateNot(va);
    vb = ir_.CreateNot(vb);
  }
  Value* u = ir_.CreateOr(ir_.CreateAnd(ua, ir_.CreateOr(vb, ub)), ir_.CreateAnd(ub, va));
  d_.write(i_.operands[0], u, type);
}

// A bit is undefined if the possible values of the sources' bits select table rows with 0 and rows with 1.
void DefinednessRules::table() {
  const ScalarType type = ScalarType::b32;
  const auto immediate = static_cast<std::uint32_t>(i_.operands[4].bits);
  std::array<std::array<Value*, 2>, 3> may{};  // [k][v]: bits of source k that may be v
  for (std::size_t k = 0; k < 3; ++k) {
    Value *u = shadow(k + 1, type), *v = value(k + 1, type);
    may[k] = {ir_.CreateOr(ir_.CreateNot(v), u), ir_.CreateOr(v, u)};
  }
  std::array<Value*, 2> result = {zero(type), zero(type)};
  for (unsigned row = 0; row < 8; ++row) {
    Value* here = ir_.CreateAnd(ir_.CreateAnd(may[0][row >> 2 & 1], may[1][row >> 1 & 1]), may[2][row & 1]);
    Value*& of = result[immediate >> row & 1];
    of = ir_.CreateOr(of, here);
  }
  d_.write(i_.operands[0], ir_.CreateAnd(result[0], result[1]), type);
}

// Integer sums: the least and the greatest result that the undefined bits allow. They differ where a bit, or a carry
// into it, is undefined. If values are not known: all bits from the lowest undefined one on.
void DefinednessRules::sum() {
  const ScalarType t = i_.type();
  const bool integer = ptx::is_integer(t) && !i_.has(Modifier::sat) && ptx::bits(t) >= 16 && t != ScalarType::u16x2 &&
                       t != ScalarType::s16x2 && !i_.has_second_destination;
  if (!integer) return anything();
  const ScalarType type = bits_of(t);
  const bool exact = values_known() && (i_.opcode == Opcode::add || i_.opcode == Opcode::sub);
  if (!exact) {
    Value* u = zero(type);
    for (std::size_t k = first(); k < i_.operands.size(); ++k) u = ir_.CreateOr(u, shadow(k, type));
    return d_.write(i_.operands[0], smear(u), type);
  }
  Value *ua = shadow(1, type), *ub = shadow(2, type), *a = value(1, type), *b = value(2, type);
  const auto least = [&](Value* v, Value* u) { return ir_.CreateAnd(v, ir_.CreateNot(u)); };
  const auto most = [&](Value* v, Value* u) { return ir_.CreateOr(v, u); };
  Value* low =
      i_.opcode == Opcode::add ? ir_.CreateAdd(least(a, ua), least(b, ub)) : ir_.CreateSub(least(a, ua), most(b, ub));
  Value* high =
      i_.opcode == Opcode::add ? ir_.CreateAdd(most(a, ua), most(b, ub)) : ir_.CreateSub(most(a, ua), least(b, ub));
  d_.write(i_.operands[0], ir_.CreateOr(ir_.CreateXor(low, high), ir_.CreateOr(ua, ub)), type);
}

// A bit of a product depends on the sources' bits up to its position.
void DefinednessRules::product() {
  const ScalarType t = i_.type();
  if (!ptx::is_integer(t) || i_.has(Modifier::hi) || i_.has(Modifier::sat)) return anything();
  const ScalarType type = bits_of(t);
  const ScalarType result = !i_.has(Modifier::wide) ? type : ptx::bits(type) == 16 ? ScalarType::b32 : ScalarType::b64;
  llvm::Type* wide = d_.integer(result, lanes_);
  Value* u = ir_.CreateOr(shadow(1, type), shadow(2, type));
  u = ir_.CreateZExtOrTrunc(u, wide);
  if (i_.opcode == Opcode::mad) u = ir_.CreateOr(u, shadow(3, result));
  d_.write(i_.operands[0], smear(u), result);
}

Outcomes DefinednessRules::of_predicate(std::size_t k) {
  Value *v = value(k, ScalarType::pred), *u = shadow(k, ScalarType::pred);
  return {ir_.CreateOr(v, u), ir_.CreateOr(ir_.CreateNot(v), u)};
}

// Compares the least and the greatest possible values. Equality compares the defined bits.
Outcomes DefinednessRules::integers_compared() {
  const ScalarType type = bits_of(i_.type());
  const std::size_t k = first();
  Value *ua = shadow(k, type), *ub = shadow(k + 1, type), *a = value(k, type), *b = value(k + 1, type);
  const auto has = [&](std::initializer_list<Modifier> some) {
    return std::any_of(some.begin(), some.end(), [&](Modifier m) { return i_.has(m); });
  };
  using M = Modifier;
  if (has({M::eq, M::ne})) {
    Value* unknown = ir_.CreateOr(ua, ub);
    Value* differ = ir_.CreateXor(a, b);
    Value* equal = ir_.CreateNot(d_.some(ir_.CreateAnd(differ, ir_.CreateNot(unknown))));
    Value* unequal = d_.some(ir_.CreateOr(differ, unknown));
    return i_.has(M::eq) ? Outcomes{equal, unequal} : Outcomes{unequal, equal};
  }
  if (ptx::is_signed(i_.type())) {
    Value* sign = llvm::ConstantInt::get(a->getType(), std::uint64_t{1} << (ptx::bits(type) - 1));
    a = ir_.CreateXor(a, sign);
    b = ir_.CreateXor(b, sign);
  }
  if (has({M::gt, M::ge, M::hi, M::hs})) {
    std::swap(a, b);
    std::swap(ua, ub);
  }
  const auto least = [&](Value* v, Value* u) { return ir_.CreateAnd(v, ir_.CreateNot(u)); };
  const auto most = [&](Value* v, Value* u) { return ir_.CreateOr(v, u); };
  if (has({M::lt, M::gt, M::lo, M::hi}))
    return {ir_.CreateICmpULT(least(a, ua), most(b, ub)), ir_.CreateICmpUGE(most(a, ua), least(b, ub))};
  return {ir_.CreateICmpULE(least(a, ua), most(b, ub)), ir_.CreateICmpUGT(most(a, ua), least(b, ub))};
}

// Undefined if both outcomes are possible.
Value* DefinednessRules::combined(const Outcomes& r, std::size_t with) {
  if (with >= i_.operands.size()) return ir_.CreateAnd(r.yes, r.no);
  const Outcomes c = of_predicate(with);
  if (i_.has(Modifier::and_)) return ir_.CreateAnd(ir_.CreateAnd(r.yes, c.yes), ir_.CreateOr(r.no, c.no));
  if (i_.has(Modifier::or_)) return ir_.CreateAnd(ir_.CreateOr(r.yes, c.yes), ir_.CreateAnd(r.no, c.no));
  return ir_.CreateOr(ir_.CreateAnd(r.yes, r.no), ir_.CreateAnd(c.yes, c.no));
}

void DefinednessRules::comparison() {
  if (ptx::is_float(i_.type()) || !ptx::is_integer(i_.type())) return anything();
  const Outcomes r = integers_compared();
  const std::size_t with = first() + 2;
  d_.write(i_.operands[0], combined(r, with), ScalarType::pred);
  if (i_.has_second_destination) d_.write(i_.operands[1], combined({r.no, r.yes}, with), ScalarType::pred);
}

// A ballot has one bit per lane. In any and all, a defined predicate of one lane may decide the result.
void DefinednessRules::vote() {
  Value* u = d_.read_lanes(i_.operands[1], ScalarType::pred);
  Value* v = l_.read_vector(i_.operands[1], ScalarType::pred);
  Value* mask = l_.mask_bits();
  Value* undefined = ir_.CreateAnd(f_.lanes_to_bits(u), mask);
  if (i_.has(Modifier::ballot)) return d_.write(i_.operands[0], undefined, ScalarType::b32);
  Value* open = ir_.CreateICmpNE(undefined, ir_.getInt32(0));
  if (i_.has(Modifier::any) || i_.has(Modifier::all)) {
    Value* deciding = i_.has(Modifier::any) ? v : ir_.CreateNot(v);
    Value* decided = ir_.CreateAnd(f_.lanes_to_bits(ir_.CreateAnd(deciding, ir_.CreateNot(u))), mask);
    open = ir_.CreateAnd(open, ir_.CreateICmpEQ(decided, ir_.getInt32(0)));
  }
  d_.write(i_.operands[0], open, ScalarType::pred);
}

void DefinednessRules::among_lanes() {
  const std::size_t k = first();
  Value* u = d_.read_lanes(i_.operands[k], bits_of(i_.type()));
  Value* any = ir_.CreateICmpNE(d_.lanes_with(u), ir_.getInt32(0));
  for (std::size_t d = 0; d < k; ++d) {
    const Operand& o = i_.operands[d];
    if (o.kind != OperandKind::reg) continue;
    const ScalarType type = carrier(f_.function.registers[o.index].type);
    d_.write(o, ir_.CreateSExt(any, d_.integer(type, false)), type);
  }
}

// Only the addend's undefined bits are propagated. The factors are ignored: which of their elements meet is not
// tracked.
void DefinednessRules::matrix() {
  const Operand& d = i_.operands[0];
  const Operand& c = i_.operands[3];
  if (d.kind != c.kind || d.elements.size() != c.elements.size()) return all_defined();
  for (std::size_t k = 0; k < d.elements.size(); ++k) {
    if (d.elements[k].kind != OperandKind::reg) continue;
    const ScalarType type = carrier(f_.function.registers[d.elements[k].index].type);
    d_.write(d.elements[k], d_.read(c.elements[k], type, lanes_), type);
  }
}

Value* DefinednessRules::any_of_sources() {
  Value* any = nullptr;
  for (std::size_t k = first(); k < i_.operands.size(); ++k)
    each_register(i_.operands[k], [&](const Operand& o) {
      Value* u = d_.read(o, carrier(f_.function.registers[o.index].type), lanes_);
      if (!u) return;
      u = d_.some(u);
      any = any ? ir_.CreateOr(any, u) : u;
    });
  return any;
}

// A floating-point result counts as undefined as a whole. Its shadow is the OR of the sources' shadows, one operation a
// source, so positions of bits mean nothing. (The halves of packed types stay separate.)
void DefinednessRules::anything() {
  const Operand& d = i_.operands[0];
  if (first() == 1 && d.kind == OperandKind::reg && ptx::is_float(i_.type(0))) {
    const ScalarType type = carrier(f_.function.registers[d.index].type);
    Value* u = zero(type);
    bool same = type != ScalarType::pred;
    for (std::size_t k = 1; same && k < i_.operands.size(); ++k) {
      const Operand& o = i_.operands[k];
      if (!d_.tracks(o)) continue;
      same = o.kind == OperandKind::reg && carrier(f_.function.registers[o.index].type) == type;
      if (same) u = ir_.CreateOr(u, d_.read(o, type, lanes_));
    }
    if (same) return d_.write(d, u, type);
  }
  Value* any = any_of_sources();
  for (std::size_t k = 0; k < first(); ++k)
    each_register(i_.operands[k], [&](const Operand& o) {
      const ScalarType type = carrier(f_.function.registers[o.index].type);
      d_.write(o, any ? ir_.CreateSExt(any, d_.integer(type, lanes_)) : nullptr, type);
    });
}

void Definedness::propagate(Lowering& lowering, LowerFunction lower) {
  if (!on_) return;
  const ptx::Instruction& i = f_.instruction();
  // ld does this itself, and so do shuffles, whose sources are other lanes.
  if (loads_shadow(i) || ptx::info(i.opcode).undefined == ptx::UndefinedFlow::lanes) return;
  DefinednessRules(*this, lowering, i).apply(lower);
}

}  // namespace warpgrind::jit
