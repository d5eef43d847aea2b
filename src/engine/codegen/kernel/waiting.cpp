// Code at the places where lanes may wait: the check whether they must, and saving and restoring of registers.
#include "codegen/kernel/waiting.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <map>

#include "base/assert.h"
#include "jit/calls/registers_aside.h"

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

Value* Waiting::create() {
  llvm::AllocaInst* paths = f_.entry_alloca(llvm::ArrayType::get(ir_.getInt64Ty(), sizeof(Paths) / 8), "paths", 64);
  static_assert(sizeof(Paths) % 8 == 0);
  paths_ = paths;
  Value* entries = f_.prologue.CreateConstInBoundsGEP1_64(f_.prologue.getInt8Ty(), paths, offsetof(Paths, entries));
  save_area_ = f_.entry_alloca(ir_.getInt8Ty(), "saved", 64);  // write_saving() sets the size
  go_on_ = f_.new_block("go_on");
  return entries;
}

Value* Waiting::field(std::size_t offset) {
  return f_.at(paths_, offset);
}

Waiting::Stop Waiting::stop_before(std::uint32_t instruction) const {
  const std::vector<ptx::RegId> live = f_.wait_points.live_before(instruction);
  Stop stop;
  for (const bool vectors : {false, true}) {
    for (ptx::RegId r : live) {
      const Registers::Slot& slot = registers_.slot(r);
      for (llvm::AllocaInst* a : {slot.scalar, slot.base, slot.kx, slot.ky, slot.vector}) {
        if (!a || (a == slot.vector) != vectors) continue;
        stop.registers.push_back({a, stop.bytes});
        const std::uint64_t bits = a->getAllocatedType()->getScalarSizeInBits();
        stop.bytes += vectors ? (bits == 1 ? 64 : (kWarpSize * bits / 8 + 63) / 64 * 64) : bits <= 64 ? 8 : 16;
      }
    }
    WG_ASSERT(stop.bytes % 8 == 0);
    if (vectors) continue;
    stop.scalar_bytes = stop.bytes;
    stop.bytes = (stop.bytes + 63) / 64 * 64;
  }
  return stop;
}

void Waiting::put_aside(const Stop& stop) {
  ir_.SetInsertPoint(stop.put_aside);
  for (const Saved& s : stop.registers) {
    Value* to = f_.at(save_area_, s.at);
    llvm::Type* type = s.slot->getAllocatedType();
    Value* value = ir_.CreateLoad(type, s.slot);
    if (type->isVectorTy()) {
      if (type->getScalarSizeInBits() == 1) value = f_.lanes_to_bits(value);
      ir_.CreateAlignedStore(value, to, llvm::Align(64));
      continue;
    }
    const unsigned bits = type->getPrimitiveSizeInBits();
    if (!type->isIntegerTy()) value = ir_.CreateBitCast(value, ir_.getIntNTy(bits));
    ir_.CreateAlignedStore(ir_.CreateZExt(value, ir_.getIntNTy(bits <= 64 ? 64 : 128)), to, llvm::Align(8));
  }
}

void Waiting::take_back(const Stop& stop) {
  llvm::Type* i32 = ir_.getInt32Ty();
  ir_.SetInsertPoint(stop.take_back);
  Value* saved = ir_.CreateLoad(ir_.getPtrTy(), field(offsetof(Paths, saved)));
  Value* lanes = f_.bits_to_lanes(ir_.CreateLoad(i32, field(offsetof(Paths, restore))));
  for (const Saved& s : stop.registers) {
    Value* from = f_.at(saved, s.at);
    llvm::Type* type = s.slot->getAllocatedType();
    if (type->isVectorTy()) {
      Value* value = type->getScalarSizeInBits() == 1
                         ? f_.bits_to_lanes(ir_.CreateAlignedLoad(i32, from, llvm::Align(8)))
                         : ir_.CreateAlignedLoad(type, from, llvm::Align(16));
      ir_.CreateStore(ir_.CreateSelect(lanes, value, ir_.CreateLoad(type, s.slot)), s.slot);
      continue;
    }
    const unsigned bits = type->getPrimitiveSizeInBits();
    Value* value = ir_.CreateAlignedLoad(ir_.getIntNTy(bits), from, llvm::Align(8));
    ir_.CreateStore(type->isIntegerTy() ? value : ir_.CreateBitCast(value, type), s.slot);
  }
}

// True if saving registers inline makes so much code that the kernel gets the quick tier. That tier keeps registers in
// memory anyway, so that a function can access them by address. (Such code was three quarters of the sorts of CUB.)
// Always true for the quick code of a new kernel.
bool Waiting::worth_a_table() const {
  if (f_.unit.options.tier) return *f_.unit.options.tier == Tier::quick;
  constexpr std::uint64_t kScalarCode = 6, kVectorCode = 8;  // instructions to save and restore
  std::uint64_t code = 0;
  for (const Stop& stop : stops_)
    for (const Saved& s : stop.registers) code += s.slot->getAllocatedType()->isVectorTy() ? kVectorCode : kScalarCode;
  CodeSize size;
  size.instructions = f_.llvm_function->getInstructionCount() + f_.unit.left_out + code;
  const bool quick = choose_tier(size) == Tier::quick;
  if (!f_.unit.quick_start) return quick;
  if (!quick) f_.unit.left_out += code;
  return true;
}

void Waiting::save_by_table() {
  f_.unit.by_table = true;
  std::map<llvm::AllocaInst*, std::uint32_t> numbers;
  std::map<std::vector<std::uint32_t>, Value*> lists;  // many places share a list
  const auto list_of = [&](const Stop& stop) {
    std::vector<std::uint32_t> list;
    for (const Saved& s : stop.registers) {
      llvm::Type* type = s.slot->getAllocatedType();
      const auto number = static_cast<std::uint32_t>(numbers.size());
      list.push_back(saved_register(numbers.emplace(s.slot, number).first->second, type->isVectorTy(),
                                    type->getScalarSizeInBits()));
    }
    Value*& known = lists[list];
    if (known) return known;
    llvm::Constant* constant = llvm::ConstantDataArray::get(f_.context(), list);
    known = new llvm::GlobalVariable(*f_.unit.llvm, constant->getType(), /*isConstant=*/true,
                                     llvm::GlobalValue::PrivateLinkage, constant, "saved");
    return known;
  };
  llvm::AllocaInst* table = f_.entry_alloca(ir_.getPtrTy(), "registers");
  for (const Stop& stop : stops_) {
    Value* list = list_of(stop);
    Value* count = ir_.getInt32(static_cast<std::uint32_t>(stop.registers.size()));
    ir_.SetInsertPoint(stop.put_aside);
    f_.call(kPutAside, ir_.getVoidTy(), {save_area_, table, list, count});
    ir_.SetInsertPoint(stop.take_back);
    f_.call(kTakeBack, ir_.getVoidTy(), {paths_, table, list, count});
  }
  table->setOperand(0, ir_.getInt32(static_cast<std::uint32_t>(numbers.size())));
  for (const auto& [slot, number] : numbers)
    f_.prologue.CreateStore(slot, f_.prologue.CreateConstInBoundsGEP1_64(ir_.getPtrTy(), table, number));
}

void Waiting::write_saving() {
  const llvm::IRBuilder<>::InsertPointGuard guard(ir_);
  WG_ASSERT(stops_.size() == places_.size());
  std::uint64_t most = 0;
  for (const Stop& stop : stops_) most = std::max(most, stop.bytes);
  save_area_->setOperand(0, ir_.getInt64((most + 63) / 64 * 64 + 64));
  if (worth_a_table()) return save_by_table();
  for (const Stop& stop : stops_) {
    put_aside(stop);
    take_back(stop);
  }
}

void Waiting::store_paths() {
  ir_.CreateStore(masks_.active(), field(offsetof(Paths, mask)));
  ir_.CreateStore(masks_.live(), field(offsetof(Paths, live)));
  ir_.CreateStore(stack_.current(), field(offsetof(Paths, current)));
  ir_.CreateStore(stack_.depth(), field(offsetof(Paths, depth)));
}

void Waiting::next_path(Value* depth) {
  store_paths();
  ir_.CreateStore(depth, field(offsetof(Paths, depth)));
  ir_.CreateStore(ir_.getInt32(0), field(offsetof(Paths, mask)));  // the lanes that ran are waiting, or gone
  f_.call("wg_next_path", ir_.getVoidTy(), {f_.context_argument, paths_});
  ir_.CreateBr(go_on_);
}

// The running lanes stop before `instruction` and save their registers; `ask` calls the device. The code after this
// call is where they continue, with their registers restored.
void Waiting::wait(std::uint32_t instruction, llvm::function_ref<void(Value* place)> ask) {
  const auto place = static_cast<std::uint32_t>(places_.size());
  places_.push_back(f_.new_block("place"));
  WG_ASSERT(stops_.size() == place && place < kParkedPath);
  Stop stop = stop_before(instruction);
  stop.put_aside = ir_.CreateStore(save_area_, field(offsetof(Paths, saved)));
  const auto put = [&](std::size_t offset, std::uint64_t value) {
    ir_.CreateStore(ir_.getInt32(static_cast<std::uint32_t>(value)), field(offset));
  };
  put(offsetof(Paths, scalar_bytes), stop.scalar_bytes);
  put(offsetof(Paths, saved_bytes), stop.bytes);
  store_paths();
  ask(ir_.getInt32(place));
  ir_.CreateBr(go_on_);
  restore(place, stop);
  stops_.push_back(std::move(stop));
}

void Waiting::restore(std::uint32_t place, Stop& stop) {
  llvm::Type* i32 = ir_.getInt32Ty();
  ir_.SetInsertPoint(places_[place]);
  Value* more = f_.call("wg_join_path", i32, {f_.context_argument, paths_});
  stop.take_back = llvm::cast<llvm::Instruction>(more);
  BasicBlock* after = f_.new_block("restored");
  ir_.CreateCondBr(ir_.CreateICmpNE(more, ir_.getInt32(0)), places_[place], after);
  ir_.SetInsertPoint(after);
  masks_.set_active(ir_.CreateLoad(i32, field(offsetof(Paths, mask))));
  stack_.set_depth(ir_.CreateLoad(i32, field(offsetof(Paths, depth))));
}

Value* Waiting::go_on() {
  llvm::Type* i32 = ir_.getInt32Ty();
  ir_.SetInsertPoint(go_on_);
  const auto take = [&](std::size_t offset) { return ir_.CreateLoad(i32, field(offset)); };
  masks_.set_active(take(offsetof(Paths, mask)));
  stack_.set_current(take(offsetof(Paths, current)));
  stack_.set_depth(take(offsetof(Paths, depth)));
  return take(offsetof(Paths, target));
}

void Waiting::publish_meeting(Value* named, Value* mask) {
  if (!f_.unit.options.synchronization) return;
  Value* members = named->getType()->isVectorTy() ? named : f_.splat(named);
  ir_.CreateAlignedStore(members, f_.at(f_.context_argument, offsetof(WarpContext, members)), llvm::Align(64));
  f_.call("wg_warp_sync", ir_.getVoidTy(), {f_.context_argument, sites_.number(), mask});
}

void Waiting::meet_all() {
  publish_meeting(ir_.getInt32(kFullMask), masks_.bits());
}

Meeting Waiting::meet(const Operand* members, Value* value) {
  llvm::Type* i32 = ir_.getInt32Ty();
  Value* mask = masks_.bits();
  if (!members) return {value, mask, true};
  const bool uniform = registers_.is_scalar(*members);
  Value* named =
      uniform ? registers_.read_scalar(*members, ScalarType::b32) : registers_.read_vector(*members, ScalarType::b32);
  const auto take_part = [&](Value* lanes) { return ir_.CreateAnd(named, uniform ? lanes : f_.splat(lanes)); };
  // All members that active lanes name.
  Value* wanted =
      uniform
          ? named
          : ir_.CreateOrReduce(ir_.CreateSelect(masks_.lanes(), named, llvm::Constant::getNullValue(named->getType())));
  const bool may_wait = f_.wait_points.at(f_.now.index);
  if (!may_wait && f_.is_kernel) {
    publish_meeting(named, mask);
    return {value, take_part(mask), uniform};
  }
  BasicBlock* slow = f_.new_block("members_elsewhere");
  BasicBlock* together = f_.new_block("together");
  if (!may_wait) {
    // In a called function, perhaps only some lanes are here. The others cannot arrive while it runs.
    Value* missing = ir_.CreateAnd(ir_.CreateAnd(wanted, masks_.alive()), ir_.CreateNot(mask));
    expect_first(ir_.CreateCondBr(ir_.CreateICmpEQ(missing, ir_.getInt32(0)), together, slow));
    ir_.SetInsertPoint(slow);
    f_.call("wg_missing_members", ir_.getVoidTy(), {f_.context_argument, sites_.number(), mask, missing});
    ir_.CreateBr(together);
    ir_.SetInsertPoint(together);
    publish_meeting(named, mask);
    return {value, take_part(mask), uniform};
  }
  Value* missing = ir_.CreateAnd(ir_.CreateAnd(wanted, masks_.alive()), ir_.CreateNot(mask));
  Value* here = take_part(mask);
  BasicBlock* fast = ir_.GetInsertBlock();
  const bool observed = f_.unit.options.synchronization;
  BasicBlock* all_here = observed ? f_.new_block("all_here") : together;
  expect_first(ir_.CreateCondBr(ir_.CreateICmpEQ(missing, ir_.getInt32(0)), all_here, slow));
  if (observed) {
    ir_.SetInsertPoint(all_here);
    publish_meeting(named, mask);
    fast = ir_.GetInsertBlock();
    ir_.CreateBr(together);
  }
  ir_.SetInsertPoint(slow);
  const auto in_context = [&](std::size_t offset) { return f_.at(f_.context_argument, offset); };
  ir_.CreateAlignedStore(f_.splat(named), in_context(offsetof(WarpContext, members)), llvm::Align(64));
  llvm::Type* wide = llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize);
  if (value)
    ir_.CreateAlignedStore(ir_.CreateZExt(value, wide), in_context(offsetof(WarpContext, brought)), llvm::Align(64));
  wait(f_.now.index, [&](Value* place) {
    f_.call("wg_meet", ir_.getVoidTy(), {f_.context_argument, sites_.number(), place, paths_});
  });
  Value* brought = nullptr;
  if (value)
    brought = ir_.CreateTrunc(ir_.CreateAlignedLoad(wide, in_context(offsetof(WarpContext, brought)), llvm::Align(64)),
                              value->getType());
  Value* met = ir_.CreateLoad(i32, in_context(offsetof(WarpContext, participants)));
  Value* members_again =
      uniform ? registers_.read_scalar(*members, ScalarType::b32) : registers_.read_vector(*members, ScalarType::b32);
  Value* there = ir_.CreateAnd(members_again, uniform ? met : f_.splat(met));
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

BasicBlock* Waiting::unless_whole_warp() {
  BasicBlock* whole = f_.new_block("whole_warp");
  BasicBlock* some = f_.new_block("some_lanes");
  Value* all_here = regions_.undivided(ir_.CreateICmpEQ(masks_.alive(), masks_.active()));
  expect_first(ir_.CreateCondBr(all_here, whole, some));
  ir_.SetInsertPoint(whole);
  return some;
}

// In a block of one warp that executes it as a whole, __syncthreads() only orders memory accesses.
Value* Waiting::barrier(Value* id, Value* threads, llvm::function_ref<Value*()> whole_warp, Value* predicate,
                        std::uint32_t operation) {
  if (!regions_.passes_alone()) return come_to_barrier(id, threads, whole_warp, predicate, operation);
  llvm::Type* i32 = ir_.getInt32Ty();
  BasicBlock* together = f_.new_block("not_alone");
  BasicBlock* passed = f_.new_block("passed_alone");
  Value* alone = f_.context_field(offsetof(WarpContext, alone), i32, "alone");
  Value* whole = f_.context_field(offsetof(WarpContext, initial_mask), i32, "initial_mask");
  Value* goes_on = ir_.CreateAnd(ir_.CreateICmpNE(alone, ir_.getInt32(0)), ir_.CreateICmpEQ(masks_.bits(), whole));
  expect_first(ir_.CreateCondBr(goes_on, passed, together));
  ir_.SetInsertPoint(together);
  WG_ASSERT(!predicate);
  come_to_barrier(id, threads, whole_warp, predicate, operation);
  ir_.CreateBr(passed);
  ir_.SetInsertPoint(passed);
  ir_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
  return nullptr;
}

Value* Waiting::come_to_barrier(Value* id, Value* threads, llvm::function_ref<Value*()> whole_warp, Value* predicate,
                                std::uint32_t operation) {
  if (!f_.wait_points.at(f_.now.index)) return whole_warp();
  llvm::Type* i32 = ir_.getInt32Ty();
  BasicBlock* some = unless_whole_warp();
  BasicBlock* passed = f_.new_block("passed");
  Value* fast = whole_warp();
  BasicBlock* from_whole = ir_.GetInsertBlock();
  ir_.CreateBr(passed);
  ir_.SetInsertPoint(some);
  wait(f_.now.index, [&](Value* place) {
    f_.call("wg_wait_at_barrier", ir_.getVoidTy(),
            {f_.context_argument, sites_.number(), place, id, threads, predicate ? predicate : ir_.getInt32(0),
             ir_.getInt32(predicate ? operation : kNoReduction), paths_});
  });
  Value* result = ir_.CreateLoad(i32, f_.at(f_.context_argument, offsetof(WarpContext, barrier_result)));
  BasicBlock* from_some = ir_.GetInsertBlock();
  ir_.CreateBr(passed);
  ir_.SetInsertPoint(passed);
  if (!predicate) return nullptr;
  llvm::PHINode* both = ir_.CreatePHI(i32, 2);
  both->addIncoming(fast, from_whole);
  both->addIncoming(result, from_some);
  return both;
}

void Waiting::cluster_wait(llvm::function_ref<void()> whole_warp) {
  if (!f_.wait_points.at(f_.now.index)) return whole_warp();
  BasicBlock* some = unless_whole_warp();
  BasicBlock* passed = f_.new_block("passed");
  whole_warp();
  ir_.CreateBr(passed);
  ir_.SetInsertPoint(some);
  wait(f_.now.index, [&](Value* place) {
    f_.call("wg_wait_for_cluster", ir_.getVoidTy(), {f_.context_argument, sites_.number(), place, paths_});
  });
  ir_.CreateBr(passed);
  ir_.SetInsertPoint(passed);
}

void Waiting::spin_turn(std::uint32_t block) {
  llvm::Type* i32 = ir_.getInt32Ty();
  Value* at = f_.at(f_.context_argument, offsetof(WarpContext, spin));
  Value* spins = ir_.CreateAdd(ir_.CreateLoad(i32, at), ir_.getInt32(1));
  ir_.CreateStore(spins, at);
  BasicBlock* turn = f_.new_block("turn");
  BasicBlock* go_on = f_.new_block("spin");
  ir_.CreateCondBr(ir_.CreateICmpEQ(ir_.CreateURem(spins, ir_.getInt32(kSpinsBeforeYield)), ir_.getInt32(0)), turn,
                   go_on);
  ir_.SetInsertPoint(turn);
  Value* give_way = f_.call("wg_yield", i32, {f_.context_argument, masks_.active()});
  if (!f_.wait_points.at_head(block)) {
    ir_.CreateBr(go_on);
    ir_.SetInsertPoint(go_on);
    return;
  }
  BasicBlock* others = f_.new_block("give_way");
  Value* alone = ir_.CreateICmpEQ(stack_.depth(), ir_.getInt32(0));
  ir_.CreateCondBr(ir_.CreateOr(alone, ir_.CreateICmpEQ(give_way, ir_.getInt32(0))), go_on, others);
  ir_.SetInsertPoint(others);
  wait(f_.cfg.blocks[block].first, [&](Value* place) {
    f_.call("wg_give_way", ir_.getVoidTy(), {f_.context_argument, sites_.number(), place, paths_});
  });
  ir_.CreateBr(go_on);
  ir_.SetInsertPoint(go_on);
}

}  // namespace warpgrind::jit
