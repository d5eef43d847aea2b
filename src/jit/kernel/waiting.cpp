// FunctionLowering: lanes of a warp that wait for each other while they are on different ways: `.sync` operations,
// barriers in divergent code, loops that wait for memory. When all who are needed run together (the usual case, one
// comparison) nothing else happens. Otherwise the lanes put their registers aside and the device says who goes on
// (device/execution/paths.cpp); when it is their turn again, they take their registers back at the same place.
#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "jit/kernel/function_lowering.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;
using ptx::Operand;
using ptx::ScalarType;

namespace {
constexpr unsigned kSpinsBeforeYield = 4;
constexpr std::uint32_t kNoReduction = 3;

void expect_first(llvm::Instruction* branch) {
  llvm::MDBuilder builder(branch->getContext());
  branch->setMetadata(llvm::LLVMContext::MD_prof, builder.createBranchWeights(2000, 1));
}
}  // namespace

Value* FunctionLowering::paths_field(std::size_t offset) {
  return ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), paths_, offset);
}

void FunctionLowering::create_paths() {
  llvm::AllocaInst* paths = entry_alloca(llvm::ArrayType::get(ir_.getInt64Ty(), sizeof(Paths) / 8), "paths", 64);
  static_assert(sizeof(Paths) % 8 == 0);
  paths_ = paths;
  stack_ = prologue_.CreateConstInBoundsGEP1_64(prologue_.getInt8Ty(), paths, offsetof(Paths, entries));
  save_area_ = prologue_.CreateAlloca(ir_.getInt8Ty(), prologue_.getInt64(64), "saved");
  save_area_->setAlignment(llvm::Align(64));
  go_on_ = BasicBlock::Create(context(), "go_on", llvm_function_);
}

// What the registers of lanes that stop look like aside: scalars, 8 or 16 bytes each, then vectors.
template <class F>
void FunctionLowering::for_saved(std::uint32_t instruction, std::uint64_t* scalar_bytes, std::uint64_t* bytes, F&& f) {
  const std::vector<ptx::RegId> live = wait_points_.live_before(instruction);
  std::uint64_t at = 0;
  for (const bool vectors : {false, true}) {
    at = vectors ? (at + 63) / 64 * 64 : at;
    for (ptx::RegId r : live) {
      const Slot& slot = slots_[r];
      for (llvm::AllocaInst* a : {slot.scalar, slot.base, slot.kx, slot.ky, slot.vector}) {
        if (!a || (a == slot.vector) != vectors) continue;
        f(a, at);
        const std::uint64_t bits = a->getAllocatedType()->getScalarSizeInBits();
        at += vectors ? (bits == 1 ? 64 : (kWarpSize * bits / 8 + 63) / 64 * 64) : bits <= 64 ? 8 : 16;
      }
    }
    if (!vectors) *scalar_bytes = at;
  }
  *bytes = at;
}

void FunctionLowering::save_registers(std::uint32_t instruction) {
  std::uint64_t scalars = 0, bytes = 0;
  for_saved(instruction, &scalars, &bytes, [&](llvm::AllocaInst* a, std::uint64_t at) {
    Value* to = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), save_area_, at);
    llvm::Type* type = a->getAllocatedType();
    Value* value = ir_.CreateLoad(type, a);
    if (type->isVectorTy()) {
      if (type->getScalarSizeInBits() == 1) value = lanes_to_bits(value);
      ir_.CreateAlignedStore(value, to, llvm::Align(64));
      return;
    }
    const unsigned bits = type->getPrimitiveSizeInBits();
    if (!type->isIntegerTy()) value = ir_.CreateBitCast(value, ir_.getIntNTy(bits));
    ir_.CreateAlignedStore(ir_.CreateZExt(value, ir_.getIntNTy(bits <= 64 ? 64 : 128)), to, llvm::Align(8));
  });
  saved_bytes_ = std::max(saved_bytes_, bytes);
  const auto put = [&](std::size_t offset, Value* value) { ir_.CreateStore(value, paths_field(offset)); };
  put(offsetof(Paths, saved), save_area_);
  put(offsetof(Paths, scalar_bytes), ir_.getInt32(static_cast<std::uint32_t>(scalars)));
  put(offsetof(Paths, saved_bytes), ir_.getInt32(static_cast<std::uint32_t>(bytes)));
}

void FunctionLowering::put_paths() {
  const auto put = [&](std::size_t offset, llvm::AllocaInst* from) {
    ir_.CreateStore(ir_.CreateLoad(ir_.getInt32Ty(), from), paths_field(offset));
  };
  put(offsetof(Paths, mask), mask_);
  put(offsetof(Paths, live), live_);
  put(offsetof(Paths, current), current_);
  put(offsetof(Paths, depth), depth_);
}

// A new place where lanes may stop; what follows is where they go on, their registers restored.
std::uint32_t FunctionLowering::begin_place() {
  const auto place = static_cast<std::uint32_t>(places_.size());
  places_.push_back(BasicBlock::Create(context(), "place", llvm_function_));
  return place;
}

void FunctionLowering::emit_restore(std::uint32_t place, std::uint32_t instruction) {
  llvm::Type* i32 = ir_.getInt32Ty();
  ir_.SetInsertPoint(places_[place]);
  Value* saved = ir_.CreateLoad(ir_.getPtrTy(), paths_field(offsetof(Paths, saved)));
  Value* lanes = bits_to_lanes(ir_.CreateLoad(i32, paths_field(offsetof(Paths, restore))));
  std::uint64_t scalars = 0, bytes = 0;
  for_saved(instruction, &scalars, &bytes, [&](llvm::AllocaInst* a, std::uint64_t at) {
    Value* from = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), saved, at);
    llvm::Type* type = a->getAllocatedType();
    if (type->isVectorTy()) {
      Value* value = type->getScalarSizeInBits() == 1 ? bits_to_lanes(ir_.CreateAlignedLoad(i32, from, llvm::Align(8)))
                                                      : ir_.CreateAlignedLoad(type, from, llvm::Align(16));
      ir_.CreateStore(ir_.CreateSelect(lanes, value, ir_.CreateLoad(type, a)), a);
      return;
    }
    const unsigned bits = type->getPrimitiveSizeInBits();
    Value* value = ir_.CreateAlignedLoad(ir_.getIntNTy(bits), from, llvm::Align(8));
    ir_.CreateStore(type->isIntegerTy() ? value : ir_.CreateBitCast(value, type), a);
  });
  Value* more = call("wg_join_path", i32, {context_argument_, paths_});
  BasicBlock* after = BasicBlock::Create(context(), "restored", llvm_function_);
  ir_.CreateCondBr(ir_.CreateICmpNE(more, ir_.getInt32(0)), places_[place], after);
  ir_.SetInsertPoint(after);
  ir_.CreateStore(ir_.CreateLoad(i32, paths_field(offsetof(Paths, mask))), mask_);
  ir_.CreateStore(ir_.CreateLoad(i32, paths_field(offsetof(Paths, depth))), depth_);
}

// After a call that may have chosen other lanes.
void FunctionLowering::emit_go_on() {
  if (!paths_) return;
  llvm::Type* i32 = ir_.getInt32Ty();
  ir_.SetInsertPoint(go_on_);
  const auto take = [&](std::size_t offset, llvm::AllocaInst* to) {
    ir_.CreateStore(ir_.CreateLoad(i32, paths_field(offset)), to);
  };
  take(offsetof(Paths, mask), mask_);
  take(offsetof(Paths, current), current_);
  take(offsetof(Paths, depth), depth_);
  Value* target = ir_.CreateLoad(i32, paths_field(offsetof(Paths, target)));
  dispatch_to(target);
  save_area_->setOperand(0, ir_.getInt64((saved_bytes_ + 63) / 64 * 64 + 64));
}

Value* FunctionLowering::alive() {
  const auto at = [&](std::size_t offset) {
    return ir_.CreateLoad(ir_.getInt32Ty(), ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), context_argument_, offset));
  };
  return ir_.CreateAnd(at(offsetof(WarpContext, initial_mask)), ir_.CreateNot(at(offsetof(WarpContext, exited))));
}

Lowering::Meeting FunctionLowering::meet(const Operand* members, Value* value) {
  llvm::Type* i32 = ir_.getInt32Ty();
  Value* mask = mask_bits();
  if (!members) return {value, mask, true};
  const bool uniform = is_scalar(*members);
  Value* named = uniform ? read_scalar(*members, ScalarType::b32) : read_vector(*members, ScalarType::b32);
  const auto take_part = [&](Value* lanes) { return ir_.CreateAnd(named, uniform ? lanes : splat(lanes)); };
  // Members that exist and are elsewhere.
  Value* wanted =
      uniform
          ? named
          : ir_.CreateOrReduce(ir_.CreateSelect(mask_vector(), named, llvm::Constant::getNullValue(named->getType())));
  const bool may_wait = wait_points_.at(instruction_index_);
  if (!may_wait && is_kernel_ && !guard_bits_) return {value, take_part(mask), uniform};
  BasicBlock* slow = BasicBlock::Create(context(), "members_elsewhere", llvm_function_);
  BasicBlock* together = BasicBlock::Create(context(), "together", llvm_function_);
  if (!may_wait) {
    // Of a called function only some lanes may be here, and the others cannot come while it runs.
    Value* missing = ir_.CreateAnd(ir_.CreateAnd(wanted, alive()), ir_.CreateNot(mask));
    expect_first(ir_.CreateCondBr(ir_.CreateICmpEQ(missing, ir_.getInt32(0)), together, slow));
    ir_.SetInsertPoint(slow);
    call("wg_missing_members", ir_.getVoidTy(), {context_argument_, site_number(), mask, missing});
    ir_.CreateBr(together);
    ir_.SetInsertPoint(together);
    return {value, take_part(mask), uniform};
  }
  Value* missing = ir_.CreateAnd(ir_.CreateAnd(wanted, alive()), ir_.CreateNot(mask));
  Value* here = take_part(mask);
  BasicBlock* fast = ir_.GetInsertBlock();
  expect_first(ir_.CreateCondBr(ir_.CreateICmpEQ(missing, ir_.getInt32(0)), together, slow));
  ir_.SetInsertPoint(slow);
  const auto in_context = [&](std::size_t offset) {
    return ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), context_argument_, offset);
  };
  ir_.CreateAlignedStore(splat(named), in_context(offsetof(WarpContext, members)), llvm::Align(64));
  llvm::Type* wide = llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize);
  if (value)
    ir_.CreateAlignedStore(ir_.CreateZExt(value, wide), in_context(offsetof(WarpContext, brought)), llvm::Align(64));
  const std::uint32_t place = begin_place();
  save_registers(instruction_index_);
  put_paths();
  call("wg_meet", ir_.getVoidTy(), {context_argument_, site_number(), ir_.getInt32(place), paths_});
  ir_.CreateBr(go_on_);
  emit_restore(place, instruction_index_);
  Value* brought = nullptr;
  if (value)
    brought = ir_.CreateTrunc(ir_.CreateAlignedLoad(wide, in_context(offsetof(WarpContext, brought)), llvm::Align(64)),
                              value->getType());
  Value* met = ir_.CreateLoad(i32, in_context(offsetof(WarpContext, participants)));
  Value* members_again = uniform ? read_scalar(*members, ScalarType::b32) : read_vector(*members, ScalarType::b32);
  Value* there = ir_.CreateAnd(members_again, uniform ? met : splat(met));
  BasicBlock* restored = ir_.GetInsertBlock();
  ir_.CreateBr(together);
  ir_.SetInsertPoint(together);
  llvm::PHINode* participants = ir_.CreatePHI(here->getType(), 2);
  participants->addIncoming(here, fast);
  participants->addIncoming(there, restored);
  llvm::PHINode* all = nullptr;
  if (value) {
    all = ir_.CreatePHI(value->getType(), 2);
    all->addIncoming(value, fast);
    all->addIncoming(brought, restored);
  }
  return {all, participants, uniform};
}

// A barrier that lanes may reach without the rest of their warp. Returns the reduction's result.
Value* FunctionLowering::barrier_of_some(Value* id, Value* threads, const std::function<Value*()>& whole_warp,
                                         Value* predicate, std::uint32_t operation) {
  llvm::Type* i32 = ir_.getInt32Ty();
  BasicBlock* whole = BasicBlock::Create(context(), "whole_warp", llvm_function_);
  BasicBlock* some = BasicBlock::Create(context(), "some_lanes", llvm_function_);
  BasicBlock* passed = BasicBlock::Create(context(), "passed", llvm_function_);
  llvm::Instruction* branch = ir_.CreateCondBr(ir_.CreateICmpEQ(alive(), active()), whole, some);
  expect_first(branch);
  ir_.SetInsertPoint(whole);
  Value* fast = whole_warp();
  BasicBlock* from_whole = ir_.GetInsertBlock();
  ir_.CreateBr(passed);
  ir_.SetInsertPoint(some);
  const std::uint32_t place = begin_place();
  save_registers(instruction_index_);
  put_paths();
  call("wg_wait_at_barrier", ir_.getVoidTy(),
       {context_argument_, site_number(), ir_.getInt32(place), id, threads, predicate ? predicate : ir_.getInt32(0),
        ir_.getInt32(predicate ? operation : kNoReduction), paths_});
  ir_.CreateBr(go_on_);
  emit_restore(place, instruction_index_);
  Value* result = ir_.CreateLoad(
      i32, ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), context_argument_, offsetof(WarpContext, barrier_result)));
  BasicBlock* from_some = ir_.GetInsertBlock();
  ir_.CreateBr(passed);
  ir_.SetInsertPoint(passed);
  if (!predicate) return nullptr;
  llvm::PHINode* both = ir_.CreatePHI(i32, 2);
  both->addIncoming(fast, from_whole);
  both->addIncoming(result, from_some);
  return both;
}

// A loop that waits for memory: now and then other warps get a turn, and other lanes of this warp when they can go on
// or when nobody else can (a lock holder among them).
void FunctionLowering::spin_turn(std::uint32_t block) {
  llvm::Type* i32 = ir_.getInt32Ty();
  Value* at = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), context_argument_, offsetof(WarpContext, spin));
  Value* spins = ir_.CreateAdd(ir_.CreateLoad(i32, at), ir_.getInt32(1));
  ir_.CreateStore(spins, at);
  BasicBlock* turn = BasicBlock::Create(context(), "turn", llvm_function_);
  BasicBlock* go_on = BasicBlock::Create(context(), "spin", llvm_function_);
  ir_.CreateCondBr(ir_.CreateICmpEQ(ir_.CreateURem(spins, ir_.getInt32(kSpinsBeforeYield)), ir_.getInt32(0)), turn,
                   go_on);
  ir_.SetInsertPoint(turn);
  Value* give_way = call("wg_yield", i32, {context_argument_, active()});
  if (!wait_points_.at_head(block)) {
    ir_.CreateBr(go_on);
    ir_.SetInsertPoint(go_on);
    return;
  }
  BasicBlock* others = BasicBlock::Create(context(), "give_way", llvm_function_);
  Value* alone = ir_.CreateICmpEQ(ir_.CreateLoad(i32, depth_), ir_.getInt32(0));
  ir_.CreateCondBr(ir_.CreateOr(alone, ir_.CreateICmpEQ(give_way, ir_.getInt32(0))), go_on, others);
  ir_.SetInsertPoint(others);
  const std::uint32_t place = begin_place();
  save_registers(cfg_.blocks[block].first);
  put_paths();
  call("wg_give_way", ir_.getVoidTy(), {context_argument_, site_number(), ir_.getInt32(place), paths_});
  ir_.CreateBr(go_on_);
  emit_restore(place, cfg_.blocks[block].first);
  ir_.CreateBr(go_on);
  ir_.SetInsertPoint(go_on);
}

}  // namespace warpgrind::jit
