// Frames of functions that a debugger reads, and the checks at places where a warp can stop.
#include "codegen/kernel/stops.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

#include <string>

#include "base/assert.h"

namespace warpgrind::jit {

using llvm::Value;

namespace {

RegisterForm describe(const flow::Form& form) {
  RegisterForm out;
  out.kind = form.kind;
  out.is_signed = form.is_signed;
  out.constant_kx = form.kx.has_value();
  out.constant_ky = form.ky.has_value();
  out.kx = static_cast<std::int32_t>(form.kx.value_or(0));
  out.ky = static_cast<std::int32_t>(form.ky.value_or(0));
  out.scale = form.scale;
  return out;
}

}  // namespace

// A constant array of RegisterForm.
llvm::Constant* Stops::forms() {
  std::string bytes;
  for (ptx::RegId r = 0; r < f_.function.registers.size(); ++r) {
    const RegisterForm form = describe(registers_.form(r));
    bytes.append(reinterpret_cast<const char*>(&form), sizeof form);
  }
  llvm::Constant* array = llvm::ConstantDataArray::getString(f_.context(), bytes, /*AddNull=*/false);
  auto* variable = new llvm::GlobalVariable(*f_.unit.llvm, array->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::InternalLinkage, array, "wg_register_forms");
  variable->setAlignment(llvm::Align(alignof(RegisterForm)));
  return variable;
}

void Stops::store(std::size_t field, Value* value) {
  ir_.CreateStore(value, f_.at(frame_, field));
}

void Stops::enter() {
  if (!on()) return;
  for (std::uint32_t n = 0; n < f_.unit.stop_places.size(); ++n)
    if (f_.unit.stop_places[n].function == f_.function_index) numbers_[f_.unit.stop_places[n].instruction] = n;
  llvm::IRBuilder<>& at = f_.prologue;
  const auto field = [&](Value* base, std::uint64_t offset) {
    return at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), base, offset);
  };
  const std::uint64_t registers = f_.function.registers.size();
  Value* slots = f_.entry_alloca(llvm::ArrayType::get(at.getPtrTy(), registers * kRegisterSlots), "slots", 16);
  for (ptx::RegId r = 0; r < registers; ++r) {
    const Registers::Slot& slot = registers_.slot(r);
    llvm::AllocaInst* parts[kRegisterSlots] = {slot.vector ? slot.vector : slot.scalar, slot.base, slot.kx, slot.ky};
    for (unsigned k = 0; k < kRegisterSlots; ++k)
      if (parts[k]) at.CreateStore(parts[k], field(slots, (r * kRegisterSlots + k) * sizeof(void*)));
  }
  frame_ = f_.entry_alloca(llvm::ArrayType::get(at.getInt8Ty(), sizeof(StopFrame)), "stop_frame", alignof(StopFrame));
  Value* innermost = f_.context_address(offsetof(WarpContext, stop_frame));
  caller_ = f_.is_kernel ? static_cast<Value*>(llvm::ConstantPointerNull::get(at.getPtrTy()))
                         : at.CreateLoad(at.getPtrTy(), innermost, "caller");
  const auto put = [&](std::size_t offset, Value* value) { at.CreateStore(value, field(frame_, offset)); };
  put(offsetof(StopFrame, caller), caller_);
  put(offsetof(StopFrame, slots), slots);
  put(offsetof(StopFrame, forms), forms());
  put(offsetof(StopFrame, local_base), variables_.frame_base());
  put(offsetof(StopFrame, function), at.getInt32(f_.function_index));
  put(offsetof(StopFrame, place), at.getInt32(kNoStopPlace));
  put(offsetof(StopFrame, lanes), at.getInt32(0));
  at.CreateStore(frame_, innermost);
}

void Stops::pass(std::uint32_t index) {
  if (!on()) return;
  const auto found = numbers_.find(index);
  if (found == numbers_.end()) return;
  Value* place = ir_.getInt32(found->second);
  Value* lanes = masks_.active();
  store(offsetof(StopFrame, place), place);
  store(offsetof(StopFrame, lanes), lanes);
  Value* steps = f_.at(f_.context_argument, offsetof(WarpContext, steps));
  ir_.CreateStore(ir_.CreateAdd(ir_.CreateLoad(ir_.getInt64Ty(), steps), ir_.getInt64(1)), steps);
  Value* flags = ir_.CreateLoad(ir_.getPtrTy(), f_.at(f_.context_argument, offsetof(WarpContext, stop_flags)));
  Value* flag = ir_.CreateLoad(ir_.getInt8Ty(), f_.at(flags, found->second));
  llvm::BasicBlock *stop = f_.new_block("stop"), *go_on = f_.new_block("go_on");
  ir_.CreateCondBr(ir_.CreateICmpNE(flag, ir_.getInt8(0)), stop, go_on,
                   llvm::MDBuilder(f_.context()).createUnlikelyBranchWeights());
  ir_.SetInsertPoint(stop);
  f_.call("wg_stop", ir_.getVoidTy(), {f_.context_argument, lanes, place});
  ir_.CreateBr(go_on);
  ir_.SetInsertPoint(go_on);
}

void Stops::leave() {
  if (on()) ir_.CreateStore(caller_, f_.at(f_.context_argument, offsetof(WarpContext, stop_frame)));
}

}  // namespace warpgrind::jit
