// Shadows of registers: which registers have one, access to them, and checks of uses.
#include "codegen/kernel/definedness.h"

#include <llvm/IR/Constants.h>

#include <algorithm>

#include "base/assert.h"
#include "flow/liveness.h"

namespace warpgrind::jit {

using flow::FormKind;
using llvm::Value;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

bool loads_shadow(const ptx::Instruction& i) {
  return ptx::info(i.opcode).undefined == ptx::UndefinedFlow::loaded && i.space != StateSpace::param &&
         i.space != StateSpace::constant;
}

bool gives_defined(const ptx::Instruction& i) {
  const ptx::UndefinedFlow flow = ptx::info(i.opcode).undefined;
  return flow == ptx::UndefinedFlow::defined || (flow == ptx::UndefinedFlow::loaded && !loads_shadow(i));
}

// Finds the registers that depend on a load, or may be read before they are written.
void Definedness::find_tracked() {
  const std::size_t count = f_.function.registers.size();
  tracked_.assign(count, false);
  unwritten_.assign(count, false);
  if (f_.is_kernel) {
    const flow::LiveRegisters live = flow::find_live_registers(f_.function, f_.cfg);
    for (std::uint32_t r = 0; r < count; ++r) tracked_[r] = unwritten_[r] = live.live_in(0, r);
  }
  std::vector<ptx::RegId> read, written;
  for (bool changed = true; changed;) {
    changed = false;
    for (const ptx::Instruction& i : f_.function.body) {
      if (gives_defined(i)) continue;
      read.clear();
      written.clear();
      flow::registers_written(i, written);
      if (written.empty()) continue;
      flow::registers_read(i, read);
      const bool may =
          loads_shadow(i) || std::any_of(read.begin(), read.end(), [&](ptx::RegId r) { return bool{tracked_[r]}; });
      if (!may) continue;
      for (const ptx::RegId r : written) {
        changed |= !tracked_[r];
        tracked_[r] = true;
      }
    }
  }
}

void Definedness::create() {
  on_ = f_.unit.options.definedness;
  if (!on_) return;
  find_tracked();
  slots_.resize(tracked_.size());
  for (std::uint32_t r = 0; r < slots_.size(); ++r) {
    if (!tracked_[r]) continue;
    Slot& slot = slots_[r];
    const FormKind kind = registers_.form(r).kind;
    // Waiting lanes save their registers, but not the shadows. So the shadows are kept lane by lane.
    slot.blend = unwritten_[r] || f_.wait_points.any();
    slot.lanes = slot.blend || kind == FormKind::varying || kind == FormKind::undefined;
    llvm::Type* type = integer(f_.function.registers[r].type, slot.lanes);
    slot.at = f_.entry_alloca(type, "d");
    f_.prologue.CreateStore(unwritten_[r] ? llvm::Constant::getAllOnesValue(type) : llvm::Constant::getNullValue(type),
                            slot.at);
  }
}

llvm::Type* Definedness::integer(ScalarType type, bool lanes) const {
  llvm::Type* e = ir_.getIntNTy(f_.element(type)->getPrimitiveSizeInBits());
  return lanes ? llvm::FixedVectorType::get(e, kWarpSize) : e;
}

Value* Definedness::some(Value* shadow) const {
  if (shadow->getType()->isIntOrIntVectorTy(1)) return shadow;
  return ir_.CreateICmpNE(shadow, llvm::Constant::getNullValue(shadow->getType()));
}

Value* Definedness::lanes_with(Value* shadow) {
  Value* any = some(shadow);
  if (any->getType()->isVectorTy()) return ir_.CreateAnd(f_.lanes_to_bits(any), masks_.bits());
  return ir_.CreateSelect(any, masks_.bits(), ir_.getInt32(0));
}

void Definedness::where_any(Value* lanes, llvm::function_ref<void()> then) {
  llvm::BasicBlock* seldom = f_.new_block("undefined");
  llvm::BasicBlock* on = f_.new_block("defined");
  llvm::MDNode* weights = llvm::MDNode::get(f_.context(), {llvm::MDString::get(f_.context(), "branch_weights"),
                                                           llvm::ConstantAsMetadata::get(ir_.getInt32(1)),
                                                           llvm::ConstantAsMetadata::get(ir_.getInt32(1000))});
  ir_.CreateCondBr(ir_.CreateICmpNE(lanes, llvm::Constant::getNullValue(lanes->getType())), seldom, on, weights);
  ir_.SetInsertPoint(seldom);
  then();
  ir_.CreateBr(on);
  ir_.SetInsertPoint(on);
}

bool Definedness::tracks(const Operand& o) const {
  if (!on_) return false;
  if (o.kind == OperandKind::vector)
    return std::any_of(o.elements.begin(), o.elements.end(), [this](const Operand& e) { return tracks(e); });
  const bool names = o.kind == OperandKind::reg || (o.kind == OperandKind::address && o.base == OperandKind::reg);
  return names && tracked_[o.index];
}

// Inactive lanes do not affect a shadow that all lanes share.
Value* Definedness::load(ptx::RegId r, bool lanes) {
  const Slot& slot = slots_[r];
  WG_ASSERT(slot.at && slot.lanes == slot.at->getAllocatedType()->isVectorTy());
  Value* v = ir_.CreateLoad(slot.at->getAllocatedType(), slot.at);
  if (lanes) return f_.splat(v);
  if (!slot.lanes) return v;
  Value* on = ir_.CreateSelect(masks_.lanes(), v, llvm::Constant::getNullValue(v->getType()));
  return ir_.CreateOrReduce(on);
}

Value* Definedness::read(const Operand& o, ScalarType type, bool lanes) {
  if (o.kind == OperandKind::vector || !tracks(o)) return nullptr;
  return ir_.CreateZExtOrTrunc(load(o.index, lanes), integer(type, lanes));
}

Value* Definedness::read_lanes(const Operand& o, ScalarType type) {
  Value* v = read(o, type, true);
  return v ? v : llvm::Constant::getNullValue(integer(type, true));
}

void Definedness::write(const Operand& o, Value* shadow, ScalarType type) {
  if (o.kind != OperandKind::reg || !tracks(o)) return;
  const Slot& slot = slots_[o.index];
  llvm::Type* wanted = slot.at->getAllocatedType();
  if (!shadow) shadow = llvm::Constant::getNullValue(wanted);
  if (shadow->getType()->isVectorTy() && !slot.lanes) {
    Value* on = ir_.CreateSelect(masks_.lanes(), shadow, llvm::Constant::getNullValue(shadow->getType()));
    shadow = ir_.CreateOrReduce(on);
  }
  if (slot.lanes) shadow = f_.splat(shadow);
  shadow = ptx::is_signed(type) ? ir_.CreateSExtOrTrunc(shadow, wanted) : ir_.CreateZExtOrTrunc(shadow, wanted);
  if (slot.lanes && (slot.blend || f_.now.guard || f_.analysis.blend[f_.now.block][o.index]))
    shadow = ir_.CreateSelect(masks_.lanes(), shadow, ir_.CreateLoad(wanted, slot.at));
  ir_.CreateStore(shadow, slot.at);
}

void Definedness::check(const Operand& o, Use use) {
  if (!tracks(o)) return;
  const Slot& slot = slots_[o.index];
  Value* lanes = lanes_with(load(o.index, slot.lanes));
  where_any(lanes, [&] {
    f_.call("wg_undefined_use", ir_.getVoidTy(),
            {f_.context_argument, sites_.number(), lanes, ir_.getInt32(static_cast<std::uint32_t>(use))});
    llvm::Type* type = slot.at->getAllocatedType();
    Value* defined = llvm::Constant::getNullValue(type);
    if (slot.lanes) defined = ir_.CreateSelect(f_.bits_to_lanes(lanes), defined, ir_.CreateLoad(type, slot.at));
    ir_.CreateStore(defined, slot.at);
  });
}

// Call before the guard becomes the mask.
void Definedness::check_guard() {
  WG_ASSERT(!f_.now.guard);
  if (on_ && f_.instruction().guard) check(predicate_of(f_.instruction().guard), Use::branch);
}

void Definedness::check_uses() {
  if (!on_) return;
  const ptx::Instruction& i = f_.instruction();
  const std::size_t first = flow::destination_operands(i);
  const auto check_from = [&](std::size_t begin) {
    for (std::size_t k = begin; k < i.operands.size(); ++k) check(i.operands[k], Use::operand);
  };
  switch (ptx::CheckedUses{ptx::info(i.opcode).checked}) {
    case ptx::CheckedUses::nothing:
      return;
    case ptx::CheckedUses::index:
      return check(i.operands[0], Use::branch);
    case ptx::CheckedUses::target:
      return check(i.operands[0], Use::address);
    case ptx::CheckedUses::operands:
      return check_from(first);
    case ptx::CheckedUses::after_first:  // shfl: lane, segment, members
      return check_from(first + 1);
    case ptx::CheckedUses::members:
      if (i.has(ptx::Modifier::sync)) check_from(i.operands.size() - 1);
      return;
    case ptx::CheckedUses::addresses:
      break;
  }
  for (const Operand& o : i.operands) {
    if (o.kind != OperandKind::address) continue;
    check(o, Use::address);
    for (const Operand& coordinate : o.elements) check(coordinate, Use::address);
  }
}

}  // namespace warpgrind::jit
