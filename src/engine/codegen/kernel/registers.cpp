// Storage of registers as allocas, and conversion between uniform, affine, wide and varying values.
#include "codegen/kernel/registers.h"

#include <llvm/IR/Constants.h>

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "flow/liveness.h"
#include "flow/transfer.h"

namespace warpgrind::jit {

using flow::FormKind;
using llvm::Value;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

namespace {

bool mentions(const Operand& o, ptx::RegId reg) {
  const bool names = o.kind == OperandKind::reg || (o.kind == OperandKind::address && o.base == OperandKind::reg);
  if (names && o.index == reg) return true;
  return std::any_of(o.elements.begin(), o.elements.end(), [&](const Operand& e) { return mentions(e, reg); });
}

// `!%p`. The `-` of a video instruction is its lowering's.
bool is_negated_predicate(const Operand& o, const Value* value) {
  return o.negated && value->getType()->getScalarType()->isIntegerTy(1);
}

}  // namespace

flow::Form Registers::form(const Operand& operand) const {
  return flow::operand_form(operand, f_.analysis.forms, f_.layout, f_.function);
}

flow::Form Registers::result_form() const {
  return flow::result_form(f_.instruction(), 0, f_.analysis.forms, f_.layout, f_.function);
}

bool Registers::is_scalar(const Operand& operand) const {
  return operand.kind == OperandKind::sink || form(operand).kind == FormKind::uniform;
}

void Registers::create() {
  slots_.resize(f_.function.registers.size());
  for (std::uint32_t r = 0; r < slots_.size(); ++r) {
    const flow::Form& f = form(r);
    Slot& slot = slots_[r];
    llvm::Type* type = f_.element(f_.function.registers[r].type);
    switch (f.kind) {
      case flow::FormKind::uniform:
        slot.scalar = f_.entry_alloca(type, "u");
        break;
      case flow::FormKind::wide:
        slot.base = f_.entry_alloca(ir_.getInt64Ty(), "base");
        [[fallthrough]];
      case flow::FormKind::affine:
        slot.scalar = f_.entry_alloca(ir_.getInt32Ty(), "b");
        if (!f.kx) slot.kx = f_.entry_alloca(ir_.getInt32Ty(), "kx");
        if (!f.ky) slot.ky = f_.entry_alloca(ir_.getInt32Ty(), "ky");
        break;
      default:
        slot.vector = f_.entry_alloca(llvm::FixedVectorType::get(type, kWarpSize), "v");
    }
  }
  clear_unwritten();
}

// Sets registers to 0 that a program may read before it writes them, or that a debugger may. Any value is allowed.
// Without a value they would be LLVM's "undef", and a branch or a division on that is undefined behaviour: LLVM removed
// whole paths with their bounds checks, and control was lost.
void Registers::clear_unwritten() {
  const flow::LiveRegisters live = flow::find_live_registers(f_.function, f_.cfg);
  for (std::uint32_t r = 0; r < slots_.size(); ++r) {
    if (f_.unit.options.stops == StopAt::nowhere && !live.live_in(0, r)) continue;
    const Slot& slot = slots_[r];
    for (llvm::AllocaInst* at : {slot.scalar, slot.kx, slot.ky, slot.base, slot.vector})
      if (at) f_.prologue.CreateStore(llvm::Constant::getNullValue(at->getAllocatedType()), at);
  }
}

Value* Registers::affine_vector(const Affine& a) {
  Value* v = f_.splat(a.b);
  const auto add_term = [&](Value* k, bool y) {
    if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(k); c && c->isZero()) return;
    v = ir_.CreateAdd(v, ir_.CreateMul(f_.splat(k), f_.lane_pattern(y, 32)));
  };
  add_term(a.kx, false);
  if (f_.layout.rows() > 1) add_term(a.ky, true);
  if (!a.wide) return v;
  llvm::Type* wide = llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize);
  v = a.is_signed ? ir_.CreateSExt(v, wide) : ir_.CreateZExt(v, wide);
  if (a.scale != 1) v = ir_.CreateMul(v, f_.splat(ir_.getInt64(static_cast<std::uint64_t>(a.scale))));
  return ir_.CreateAdd(v, f_.splat(a.base));
}

Value* Registers::load_vector(ptx::RegId r) {
  const flow::Form& f = form(r);
  const Slot& slot = slots_[r];
  llvm::Type* type = f_.element(f_.function.registers[r].type);
  switch (f.kind) {
    case FormKind::uniform:
      return f_.splat(load_scalar(r));
    case FormKind::varying:
      return ir_.CreateLoad(llvm::FixedVectorType::get(type, kWarpSize), slot.vector);
    default: {
      Operand o;
      o.kind = OperandKind::reg;
      o.index = r;
      return affine_vector(read_affine(o, f.kind == FormKind::wide ? 64 : 32));
    }
  }
}

Affine Registers::affine_special(ptx::SpecialRegister s) {
  using S = ptx::SpecialRegister;
  WG_ASSERT(s == S::laneid || (!f_.layout.general && (s == S::tid_x || s == S::tid_y)));
  Affine a;
  a.kx = a.ky = ir_.getInt32(0);
  const auto base = [&](unsigned d) {
    return f_.context_field(offsetof(WarpContext, tid_base) + 4 * d, ir_.getInt32Ty(), "tid_base");
  };
  switch (s) {
    case S::tid_x:
      a.b = f_.layout.row_length == 32 ? base(0) : static_cast<Value*>(ir_.getInt32(0));
      a.kx = ir_.getInt32(1);
      break;
    case S::tid_y:
      a.b = base(1);
      a.ky = ir_.getInt32(1);
      break;
    default:  // laneid
      a.b = ir_.getInt32(0);
      a.kx = ir_.getInt32(1);
      a.ky = ir_.getInt32(f_.layout.rows() == 1 ? 0 : f_.layout.row_length);
  }
  return a;
}

Affine Registers::read_affine(const Operand& operand, unsigned width) {
  const flow::Form f = form(operand);
  Affine a;
  a.kx = a.ky = ir_.getInt32(0);
  if (f.kind == FormKind::uniform) {
    Value* value = read_scalar(operand, width == 64 ? ScalarType::b64 : ScalarType::b32);
    if (width == 64) {
      a.wide = true;
      a.base = value;
      a.b = ir_.getInt32(0);
    } else {
      a.b = value;
    }
    return a;
  }
  if (operand.kind == OperandKind::sreg) return affine_special(operand.sreg);
  WG_ASSERT(operand.kind == OperandKind::reg);
  const Slot& slot = slots_[operand.index];
  WG_ASSERT(slot.scalar && (slot.base != nullptr) == (f.kind == FormKind::wide));
  const auto coefficient = [&](const std::optional<std::int64_t>& k, llvm::AllocaInst* at) -> Value* {
    if (k) return ir_.getInt32(static_cast<std::uint32_t>(*k));
    return ir_.CreateLoad(ir_.getInt32Ty(), at);
  };
  a.b = ir_.CreateLoad(ir_.getInt32Ty(), slot.scalar);
  a.kx = coefficient(f.kx, slot.kx);
  a.ky = coefficient(f.ky, slot.ky);
  if (f.kind == FormKind::wide) {
    a.wide = a.carries_lanes = true;
    a.base = ir_.CreateLoad(ir_.getInt64Ty(), slot.base);
    a.scale = f.scale;
    a.is_signed = f.is_signed;
  }
  return a;
}

void Registers::write_affine(ptx::RegId r, const Affine& a) {
  const flow::Form& f = form(r);
  const Slot& slot = slots_[r];
  if (f.kind == FormKind::varying || f.kind == FormKind::uniform) {
    const ScalarType type = f_.function.registers[r].type;
    Operand o;
    o.kind = OperandKind::reg;
    o.index = r;
    write(o,
          f.kind == FormKind::varying ? f_.convert_bits(affine_vector(a), type)
                                      : f_.convert_bits(a.wide ? a.base : a.b, type),
          type);
    return;
  }
  WG_ASSERT(a.wide == (f.kind == FormKind::wide) && (a.base != nullptr) == a.wide);
  ir_.CreateStore(a.b, slot.scalar);
  if (slot.kx) ir_.CreateStore(a.kx, slot.kx);
  if (slot.ky) ir_.CreateStore(a.ky, slot.ky);
  if (slot.base) ir_.CreateStore(a.base, slot.base);
}

Value* Registers::load_scalar(ptx::RegId r) {
  WG_ASSERT(slots_[r].scalar);
  return ir_.CreateLoad(f_.element(f_.function.registers[r].type), slots_[r].scalar);
}

Value* Registers::immediate(const Operand& o, ScalarType type) {
  llvm::Type* e = f_.element(type);
  if (e->isIntegerTy())
    return ir_.getIntN(e->getIntegerBitWidth(),
                       llvm::APInt(64, o.bits).zextOrTrunc(std::min(64u, e->getIntegerBitWidth())).getZExtValue());
  // NVIDIA's assembler takes 0f3f800000 of an f64 operand for the bits of a double, not for 1.0.
  if (e->isDoubleTy() && o.literal == ptx::Literal::f32)
    return llvm::ConstantFP::get(f_.context(),
                                 llvm::APFloat(e->getFltSemantics(), llvm::APInt(64, o.bits & 0xffffffffu)));
  if (o.literal == ptx::Literal::f64 && !e->isDoubleTy())
    return llvm::ConstantFP::get(e, std::bit_cast<double>(o.bits));
  return llvm::ConstantFP::get(f_.context(),
                               llvm::APFloat(e->getFltSemantics(), llvm::APInt(e->getPrimitiveSizeInBits(), o.bits)));
}

Value* Registers::uniform_address(const Operand& o) {
  const auto offset = static_cast<std::uint64_t>(o.offset);
  if (o.base == OperandKind::variable) return variables_.address(o);
  if (o.base != OperandKind::reg) return ir_.getInt64(offset);
  Value* base = ir_.CreateZExtOrTrunc(load_scalar(o.index), ir_.getInt64Ty());
  return o.offset ? ir_.CreateAdd(base, ir_.getInt64(offset)) : base;
}

Value* Registers::read_scalar(const Operand& o, ScalarType type) {
  switch (o.kind) {
    case OperandKind::reg: {
      Value* value = load_scalar(o.index);
      if (is_negated_predicate(o, value)) value = ir_.CreateNot(value);
      return f_.convert_bits(value, type);
    }
    case OperandKind::sreg:
      return f_.convert_bits(special_.read(o.sreg, o.index), type);
    case OperandKind::immediate:
      return immediate(o, type);
    case OperandKind::variable:
      return f_.convert_bits(variables_.address(o), type);
    case OperandKind::function:
      // The address of a device function is 1 + its index, so that null stays null; calls look it up in
      // WarpContext::functions.
      return f_.convert_bits(ir_.getInt64(o.index + 1), type);
    case OperandKind::address:
      return f_.convert_bits(uniform_address(o), type);
    default:
      f_.unsupported("this kind of operand here");
      return llvm::Constant::getNullValue(f_.element(type));
  }
}

Value* Registers::read_vector(const Operand& o, ScalarType type) {
  if (is_scalar(o)) return f_.splat(read_scalar(o, type));
  Value* value = nullptr;
  if (o.kind == OperandKind::sreg) {
    const bool affine = form(o).kind == FormKind::affine;
    value = affine ? affine_vector(read_affine(o, 32)) : special_.read(o.sreg, o.index);
  } else {
    WG_ASSERT(o.kind == OperandKind::reg || o.kind == OperandKind::address);
    value = load_vector(o.index);
    if (o.kind == OperandKind::address) {
      value = f_.convert_bits(value, ScalarType::b64);
      if (o.offset) value = ir_.CreateAdd(value, f_.splat(ir_.getInt64(static_cast<std::uint64_t>(o.offset))));
    }
  }
  if (is_negated_predicate(o, value)) value = ir_.CreateNot(value);
  return f_.convert_bits(value, type);
}

Value* Registers::read(const Operand& operand, ScalarType type) {
  return f_.now.scalar ? read_scalar(operand, type) : read_vector(operand, type);
}

void Registers::write(const Operand& o, Value* value, ScalarType type) {
  if (o.kind == OperandKind::sink || o.kind == OperandKind::none) return;
  WG_ASSERT(o.kind == OperandKind::reg);
  const ScalarType reg_type = f_.function.registers[o.index].type;
  llvm::Type* slot = f_.element(reg_type);
  const unsigned have = value->getType()->getScalarSizeInBits(), want = slot->getPrimitiveSizeInBits();
  if (have < want && value->getType()->isIntOrIntVectorTy() && ptx::is_signed(type)) {
    llvm::Type* wide = ir_.getIntNTy(want);
    value = ir_.CreateSExt(value, value->getType()->isVectorTy() ? llvm::FixedVectorType::get(wide, kWarpSize) : wide);
  }
  value = f_.convert_bits(value, reg_type);
  const flow::Form& f = form(o.index);
  const Slot& s = slots_[o.index];
  if (f.kind == FormKind::uniform) {
    if (value->getType()->isVectorTy()) value = ir_.CreateExtractElement(value, std::uint64_t{0});
    ir_.CreateStore(value, s.scalar);
    return;
  }
  if (f.kind != FormKind::varying) {  // uniform value, affine or wide register
    WG_ASSERT(!value->getType()->isVectorTy());
    Affine a;
    a.kx = a.ky = ir_.getInt32(0);
    a.wide = f.kind == FormKind::wide;
    a.base = a.wide ? value : nullptr;
    a.b = a.wide ? ir_.getInt32(0) : value;
    write_affine(o.index, a);
    return;
  }
  WG_ASSERT(s.vector);
  value = f_.splat(value);
  if (f_.now.guard || f_.shows_all_lanes || f_.analysis.blend[f_.now.block][o.index]) {
    Value* old = ir_.CreateLoad(value->getType(), s.vector);
    value = ir_.CreateSelect(masks_.lanes(), value, old);
  }
  ir_.CreateStore(value, s.vector);
}

Value* Registers::carry_slot() {
  if (!carry_) {
    llvm::Type* type = llvm::FixedVectorType::get(ir_.getInt1Ty(), kWarpSize);
    carry_ = f_.entry_alloca(type, "carry");
    f_.prologue.CreateStore(llvm::Constant::getNullValue(type), carry_);
  }
  return carry_;
}

// Any other mention counts as a read: compilers define each register once.
bool Registers::is_read(const Operand& destination) const {
  if (destination.kind == OperandKind::sink) return false;
  if (destination.kind == OperandKind::vector)
    return std::any_of(destination.elements.begin(), destination.elements.end(),
                       [&](const Operand& e) { return is_read(e); });
  if (destination.kind != OperandKind::reg) return true;
  const ptx::RegId reg = destination.index;
  for (const ptx::Instruction& i : f_.function.body) {
    if (i.guard && i.guard.reg == reg) return true;
    for (const Operand& o : i.operands)
      if (!(&i == f_.now.instruction && &o == &i.operands[0]) && mentions(o, reg)) return true;
    for (const auto* list : {&i.arguments, &i.results})
      for (const Operand& o : *list)
        if (mentions(o, reg)) return true;
  }
  return false;
}

}  // namespace warpgrind::jit
