// Frames of functions that a debugger reads, and the checks at places where a warp can stop.
#include "codegen/kernel/stops.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <string>

#include "base/assert.h"
#include "jit/stop_registers.h"

namespace warpgrind::jit {

using llvm::Value;

namespace {

// Most copies of all places of a function. The code of larger ones would take too long to compile, so that they hold
// registers in memory.
constexpr std::size_t kMostCopies = 12000;

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

std::vector<llvm::AllocaInst*> Stops::parts_of(ptx::RegId r) const {
  const Registers::Slot& slot = registers_.slot(r);
  return {slot.vector ? slot.vector : slot.scalar, slot.base, slot.kx, slot.ky};
}

Value* Stops::constant(const std::string& bytes, std::uint64_t alignment, const char* name) {
  llvm::Constant* array = llvm::ConstantDataArray::getString(f_.context(), bytes, /*AddNull=*/false);
  auto* variable = new llvm::GlobalVariable(*f_.unit.llvm, array->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::InternalLinkage, array, name);
  variable->setAlignment(llvm::Align(alignment));
  return variable;
}

// A constant array of RegisterForm.
Value* Stops::forms() {
  std::string bytes;
  for (ptx::RegId r = 0; r < f_.function.registers.size(); ++r) {
    const RegisterForm form = describe(registers_.form(r));
    bytes.append(reinterpret_cast<const char*>(&form), sizeof form);
  }
  return constant(bytes, alignof(RegisterForm), "wg_register_forms");
}

// An array of the addresses of all registers' parts, in the function's stack frame.
Value* Stops::slots() {
  llvm::IRBuilder<>& at = f_.prologue;
  const std::uint64_t registers = f_.function.registers.size();
  Value* slots = f_.entry_alloca(llvm::ArrayType::get(at.getPtrTy(), registers * kRegisterSlots), "slots", 16);
  for (ptx::RegId r = 0; r < registers; ++r) {
    const std::vector<llvm::AllocaInst*> parts = parts_of(r);
    for (unsigned k = 0; k < kRegisterSlots; ++k)
      if (parts[k])
        at.CreateStore(parts[k], at.CreateConstInBoundsGEP1_64(at.getPtrTy(), slots, r * kRegisterSlots + k));
  }
  return slots;
}

void Stops::find_places() {
  for (std::uint32_t n = 0; n < f_.unit.stop_places.size(); ++n)
    if (f_.unit.stop_places[n].function == f_.function_index) places_[f_.unit.stop_places[n].instruction].number = n;
}

bool Stops::keeps_copies() {
  if (has_variables(*f_.unit.module)) return false;
  const StopRegisters live(f_.unit.module->functions[f_.function_index]);
  const std::size_t registers = f_.function.registers.size();
  kept_at_.assign(registers * kRegisterSlots, kNotKept);
  std::size_t copies = 0;
  for (auto& [instruction, place] : places_) {
    const std::vector<std::uint64_t> shown = live.before(instruction);
    for (ptx::RegId r = 0; r < registers; ++r) {
      if (!is_member(shown, r)) continue;
      const std::vector<llvm::AllocaInst*> parts = parts_of(r);
      for (unsigned k = 0; k < kRegisterSlots; ++k) {
        if (!parts[k]) continue;
        std::uint32_t& offset = kept_at_[r * kRegisterSlots + k];
        if (offset == kNotKept) {
          const std::uint64_t bits = parts[k]->getAllocatedType()->getPrimitiveSizeInBits().getFixedValue();
          const std::uint64_t bytes = (bits + 7) / 8, unit = bytes >= 64 ? 64 : 16;
          offset = static_cast<std::uint32_t>((kept_bytes_ + unit - 1) / unit * unit);
          kept_bytes_ = offset + static_cast<std::uint32_t>((bytes + 15) / 16 * 16);
        }
        place.copies.push_back({parts[k], offset});
        if (++copies > kMostCopies) return false;
      }
    }
  }
  return true;
}

void Stops::enter() {
  if (!on()) return;
  find_places();
  llvm::IRBuilder<>& at = f_.prologue;
  const auto field = [&](Value* base, std::uint64_t offset) {
    return at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), base, offset);
  };
  const bool copies = keeps_copies();
  Value* const null = llvm::ConstantPointerNull::get(at.getPtrTy());
  Value *in_memory = null, *kept_at = null;
  if (copies) {
    kept_ = f_.entry_alloca(llvm::ArrayType::get(at.getInt8Ty(), std::max(kept_bytes_, 1u)), "kept", 64);
    kept_at = constant({reinterpret_cast<const char*>(kept_at_.data()), kept_at_.size() * sizeof kept_at_[0]},
                       alignof(std::uint32_t), "wg_kept_at");
  } else {
    f_.shows_all_lanes = true;
    in_memory = slots();
  }
  frame_ = f_.entry_alloca(llvm::ArrayType::get(at.getInt8Ty(), sizeof(KeptFrame)), "stop_frame", alignof(KeptFrame));
  Value* innermost = f_.context_address(offsetof(WarpContext, stop_frame));
  caller_ = f_.is_kernel ? null : at.CreateLoad(at.getPtrTy(), innermost, "caller");
  const auto put = [&](std::size_t offset, Value* value) { at.CreateStore(value, field(frame_, offset)); };
  put(offsetof(StopFrame, caller), caller_);
  put(offsetof(StopFrame, slots), in_memory);
  put(offsetof(KeptFrame, kept), copies ? kept_ : null);
  put(offsetof(KeptFrame, kept_at), kept_at);
  put(offsetof(StopFrame, forms), forms());
  put(offsetof(StopFrame, local_base), variables_.frame_base());
  put(offsetof(StopFrame, function), at.getInt32(f_.function_index));
  put(offsetof(StopFrame, place), at.getInt32(kNoStopPlace));
  put(offsetof(StopFrame, lanes), at.getInt32(0));
  at.CreateStore(frame_, innermost);
  steps_ = f_.entry_alloca(at.getInt64Ty(), "steps");
  const auto load_steps = [this](llvm::IRBuilder<>& here, Value* from) {
    here.CreateStore(here.CreateLoad(here.getInt64Ty(), from), steps_);
  };
  // A kernel with stops has no regions, so that each entry is the start of a warp, perhaps in place of another one.
  Value* const counted = f_.context_address(offsetof(WarpContext, steps));
  if (f_.is_kernel) at.CreateStore(at.getInt64(0), counted);
  load_steps(at, counted);
  put(offsetof(KeptFrame, entered), at.CreateLoad(at.getInt64Ty(), steps_));
  f_.before_call = [this](llvm::ArrayRef<Value*> arguments) {
    if (!arguments.empty() && arguments.front() == f_.context_argument) update();
  };
  f_.after_function = [this, load_steps] { load_steps(ir_, f_.at(f_.context_argument, offsetof(WarpContext, steps))); };
}

void Stops::store(std::size_t field, Value* value) {
  ir_.CreateStore(value, f_.at(frame_, field));
}

void Stops::update() {
  ir_.CreateStore(ir_.CreateLoad(ir_.getInt64Ty(), steps_), f_.at(f_.context_argument, offsetof(WarpContext, steps)));
  if (!now_) return;
  store(offsetof(StopFrame, place), ir_.getInt32(now_->number));
  store(offsetof(StopFrame, lanes), masks_.active());
  if (!kept_) return;
  for (const Copy& copy : now_->copies)
    ir_.CreateAlignedStore(ir_.CreateLoad(copy.from->getAllocatedType(), copy.from), f_.at(kept_, copy.at),
                           llvm::Align(16));
}

void Stops::stand_outside() {
  now_ = nullptr;
}

void Stops::pass(std::uint32_t index) {
  if (!on()) return;
  const auto found = places_.find(index);
  if (found == places_.end()) return;
  now_ = &found->second;
  ir_.CreateStore(ir_.CreateAdd(ir_.CreateLoad(ir_.getInt64Ty(), steps_), ir_.getInt64(1)), steps_);
  Value* flags = ir_.CreateLoad(ir_.getPtrTy(), f_.at(f_.context_argument, offsetof(WarpContext, stop_flags)));
  Value* flag = ir_.CreateLoad(ir_.getInt8Ty(), f_.at(flags, now_->number));
  llvm::BasicBlock *stop = f_.new_block("stop"), *go_on = f_.new_block("go_on");
  ir_.CreateCondBr(ir_.CreateICmpNE(flag, ir_.getInt8(0)), stop, go_on,
                   llvm::MDBuilder(f_.context()).createUnlikelyBranchWeights());
  ir_.SetInsertPoint(stop);
  f_.call("wg_stop", ir_.getVoidTy(), {f_.context_argument, masks_.active(), ir_.getInt32(now_->number)});
  ir_.CreateBr(go_on);
  ir_.SetInsertPoint(go_on);
}

void Stops::leave() {
  if (!on()) return;
  ir_.CreateStore(caller_, f_.at(f_.context_argument, offsetof(WarpContext, stop_frame)));
  ir_.CreateStore(ir_.CreateLoad(ir_.getInt64Ty(), steps_), f_.at(f_.context_argument, offsetof(WarpContext, steps)));
}

}  // namespace warpgrind::jit
