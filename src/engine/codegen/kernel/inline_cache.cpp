// Machine code of the inline cache: check, count, and display to observers.
#include "codegen/kernel/inline_cache.h"

#include <llvm/IR/Constants.h>

#include <bit>

#include "base/assert.h"
#include "codegen/kernel/access_facts.h"
#include "gpu/local_kinds.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;

bool InlineCache::serves_all(const Address& a, StateSpace space, unsigned bytes) const {
  if (f_.unit.options.every_access || a.kind == Address::Kind::varying) return false;
  if (space == StateSpace::generic || space == StateSpace::none || space == StateSpace::param) return false;
  if (space == StateSpace::local) return a.kind == Address::Kind::uniform;
  return bytes <= 32;
}

bool InlineCache::serves_some(const Address& a, StateSpace space, unsigned element_bytes, unsigned count,
                              bool store) const {
  if (space == StateSpace::local) return !store || count == 1;  // serves_all() requires one offset for all lanes
  const std::int64_t bytes = std::int64_t{element_bytes} * count;
  // AVX-512 stores some bytes of a vector at once; AVX2 only words.
  constexpr unsigned kShortest = 16;
  const bool masked = element_bytes >= 4 || (f_.has_avx512() && f_.layout.row_length * element_bytes >= kShortest);
  if (store && (count != 1 || !masked)) return false;
  if (a.kind == Address::Kind::uniform) return true;
  return a.constant_kx && (*a.constant_kx == bytes || (!store && *a.constant_kx == 0));
}

Value* InlineCache::state() {
  const std::uint64_t site = sites_.number()->getZExtValue();
  WG_ASSERT(site < f_.unit.facts.sites.size());
  if (!sites_at_) {
    sites_at_ = f_.entry_alloca(ir_.getPtrTy(), "sites");
    f_.prologue.CreateStore(f_.prologue.CreateLoad(ir_.getPtrTy(), f_.context_address(offsetof(WarpContext, sites))),
                            sites_at_);
  }
  return f_.at(ir_.CreateLoad(ir_.getPtrTy(), sites_at_), site * sizeof(SiteState));
}

void InlineCache::read_sites_again() {
  if (!sites_at_) return;
  ir_.CreateStore(ir_.CreateLoad(ir_.getPtrTy(), f_.at(f_.context_argument, offsetof(WarpContext, sites))), sites_at_);
}

Value* InlineCache::hit(const Address& a, Value* state, unsigned alignment) {
  WG_ASSERT(a.kind != Address::Kind::varying && std::has_single_bit(alignment));
  llvm::Type* i64 = ir_.getInt64Ty();
  const auto field = [&](std::size_t offset) { return ir_.CreateLoad(i64, f_.at(state, offset)); };
  Value* distance = ir_.CreateSub(a.base, field(offsetof(SiteState, low)));
  if (alignment > 1)
    distance = ir_.CreateIntrinsic(i64, llvm::Intrinsic::fshr,
                                   {distance, distance, ir_.getInt64(std::countr_zero(alignment))});
  Value* ok = ir_.CreateICmpULE(distance, field(offsetof(SiteState, span)));
  if (a.kind == Address::Kind::affine) {
    if (!a.constant_kx) ok = ir_.CreateAnd(ok, ir_.CreateICmpEQ(a.kx, field(offsetof(SiteState, key_x))));
    if (!a.constant_ky) ok = ir_.CreateAnd(ok, ir_.CreateICmpEQ(a.ky, field(offsetof(SiteState, key_y))));
    if (a.exact) ok = ir_.CreateAnd(ok, a.exact);
  }
  return ok;
}

// Two branches with one condition each. A condition used twice would be computed as a value, which costs a tight loop a
// third of its speed.
void InlineCache::branch(const Address& a, Value* state, unsigned alignment, const Ways& ways, llvm::MDNode* weights) {
  Value* all_on = masks_.all_on();
  if (ways.some == ways.slow) {
    ir_.CreateCondBr(ir_.CreateAnd(hit(a, state, alignment), all_on), ways.all, ways.slow, weights);
    return;
  }
  BasicBlock* good = f_.new_block("good");
  ir_.CreateCondBr(hit(a, state, alignment), good, ways.slow, weights);
  ir_.SetInsertPoint(good);
  ir_.CreateCondBr(all_on, ways.all, ways.some, weights);
}

// Weights of a branch whose first target makes a call. Without them, the registers that the call may change are saved
// before the branch.
llvm::MDNode* InlineCache::seldom() const {
  const auto weight = [&](std::uint32_t n) { return llvm::ConstantAsMetadata::get(ir_.getInt32(n)); };
  return llvm::MDNode::get(f_.context(),
                           {llvm::MDString::get(f_.context(), "branch_weights"), weight(1), weight(1000)});
}

// Leaves the insertion point in the block that shows the access.
InlineCache::Watching InlineCache::begin_watching(Value* state) {
  const Watching blocks{f_.new_block("watched"), f_.new_block("unwatched")};
  Value* watched = ir_.CreateLoad(ir_.getInt64Ty(), f_.at(state, offsetof(SiteState, watched)));
  ir_.CreateCondBr(ir_.CreateICmpNE(watched, ir_.getInt64(0)), blocks.ask, blocks.go_on, seldom());
  ir_.SetInsertPoint(blocks.ask);
  return blocks;
}

void InlineCache::ask(const Address& a, BasicBlock* go_on, BasicBlock* slow) {
  Value* zero = ir_.getInt64(0);
  const bool uniform = a.kind == Address::Kind::uniform;
  Value* noted = f_.call(
      "wg_watch", ir_.getInt32Ty(),
      {f_.context_argument, sites_.number(), a.base, uniform ? zero : a.kx, uniform ? zero : a.ky, masks_.bits()});
  ir_.CreateCondBr(ir_.CreateICmpNE(noted, ir_.getInt32(0)), go_on, slow);
  ir_.SetInsertPoint(go_on);
}

void InlineCache::show(const Address& a, Value* state, StateSpace space, BasicBlock* slow) {
  if (!f_.unit.options.watched || space == StateSpace::local || space == StateSpace::constant) return;
  ask(a, begin_watching(state).go_on, slow);
}

void InlineCache::show_load(const Address& a, Value* state, const ptx::Instruction& load, BasicBlock* slow) {
  if (!f_.unit.options.watched || load.space != StateSpace::shared || memory_order(load) != events::MemoryOrder::weak)
    return show(a, state, load.space, slow);
  const Watching blocks = begin_watching(state);
  Value* log = f_.context_field(offsetof(WarpContext, late_loads), ir_.getPtrTy(), "late_loads");
  Value* at = ir_.CreateLoad(ir_.getPtrTy(), f_.at(log, offsetof(events::LateLoads, next)));
  Value* end = ir_.CreateLoad(ir_.getPtrTy(), f_.at(log, offsetof(events::LateLoads, end)));
  BasicBlock* room = f_.new_block("logged_late");
  BasicBlock* none = f_.new_block("reported_now");
  ir_.CreateCondBr(ir_.CreateICmpEQ(at, end), none, room, seldom());
  ir_.SetInsertPoint(room);
  note(a, log, at);
  ir_.CreateBr(blocks.go_on);
  ir_.SetInsertPoint(none);
  ask(a, blocks.go_on, slow);
}

void InlineCache::note(const Address& a, Value* log, Value* at) {
  llvm::Type* i32 = ir_.getInt32Ty();
  const auto put = [&](std::size_t offset, Value* value) { ir_.CreateStore(value, f_.at(at, offset)); };
  const auto word = [&](Value* value) { return ir_.CreateTrunc(value, i32); };
  const bool uniform = a.kind == Address::Kind::uniform;
  Value* zero = ir_.getInt32(0);
  put(offsetof(events::LateLoad, base), word(a.base));
  put(offsetof(events::LateLoad, kx), uniform ? zero : word(a.kx));
  put(offsetof(events::LateLoad, ky), uniform ? zero : word(a.ky));
  put(offsetof(events::LateLoad, mask), masks_.bits());
  put(offsetof(events::LateLoad, site), sites_.number());
  put(offsetof(events::LateLoad, warp), f_.context_field(offsetof(WarpContext, warp), i32, "warp"));
  ir_.CreateStore(f_.at(at, sizeof(events::LateLoad)), f_.at(log, offsetof(events::LateLoads, next)));
}

void InlineCache::count_in_bin(Value* state, Value* bin) {
  Value* histogram = f_.at(state, offsetof(SiteState, histogram));
  counting_.bump(ir_.CreateInBoundsGEP(ir_.getInt64Ty(), histogram, bin), ir_.getInt64(1));
}

void InlineCache::count_all(const Address& a, StateSpace space, Value* state) {
  if (!f_.unit.options.counters) return;
  const bool local = space == StateSpace::local;
  count_in_bin(state, local ? ir_.getInt64(local_kind(kFullMask)) : ir_.CreateAnd(a.base, ir_.getInt64(255)));
}

// local_kind() of the active lanes.
Value* InlineCache::kind_of_lanes() {
  llvm::Type *i8 = ir_.getInt8Ty(), *i64 = ir_.getInt64Ty();
  Value* mask = masks_.bits();
  auto* groups = llvm::FixedVectorType::get(ir_.getIntNTy(kLaneGroup), kLaneGroups);
  Value* on = ir_.CreateICmpNE(ir_.CreateBitCast(mask, groups), llvm::Constant::getNullValue(groups));
  Value* index = ir_.CreateZExt(ir_.CreateBitCast(on, ir_.getIntNTy(kLaneGroups)), i64);
  constexpr const char* kName = "wg_local_kinds";
  llvm::GlobalVariable* table = f_.unit.llvm->getGlobalVariable(kName, true);
  if (!table) {
    llvm::Constant* before = llvm::ConstantDataArray::get(f_.context(), llvm::ArrayRef(kLocalKindsBefore));
    table = new llvm::GlobalVariable(*f_.unit.llvm, before->getType(), /*isConstant=*/true,
                                     llvm::GlobalValue::InternalLinkage, before, kName);
  }
  Value* before = ir_.CreateZExt(ir_.CreateLoad(i8, ir_.CreateInBoundsGEP(i8, table, index)), i64);
  return ir_.CreateAdd(before, ir_.CreateZExt(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, mask), i64));
}

Value* InlineCache::count_some(const Address& a, StateSpace space, Value* state) {
  if (!f_.unit.options.counters) return ir_.getTrue();
  if (space == StateSpace::local) {
    count_in_bin(state, kind_of_lanes());
    return ir_.getTrue();
  }
  llvm::Type* i64 = ir_.getInt64Ty();
  Value* mask = masks_.bits();
  Value* bits = ir_.CreateLoad(i64, f_.at(state, offsetof(SiteState, place_bits)));
  Value* low = ir_.CreateShl(ir_.CreateAnd(a.base, bits), 32);
  Value* tag = ir_.CreateOr(ir_.CreateZExt(mask, i64), low);
  Value* slot = ir_.CreateLShr(ir_.CreateMul(tag, ir_.getInt64(kMaskedHash)), kMaskedShift);
  Value* at = ir_.CreateInBoundsGEP(ir_.getInt8Ty(), f_.at(state, offsetof(SiteState, masked)),
                                    ir_.CreateMul(slot, ir_.getInt64(sizeof(MaskedCount))));
  BasicBlock* known = f_.new_block("known");
  BasicBlock* other = f_.new_block("other");
  BasicBlock* counted = f_.new_block("counted");
  ir_.CreateCondBr(ir_.CreateICmpEQ(ir_.CreateLoad(i64, at), tag), known, other);
  ir_.SetInsertPoint(known);
  counting_.bump(f_.at(at, offsetof(MaskedCount, hits)), ir_.getInt64(1));
  ir_.CreateBr(counted);
  ir_.SetInsertPoint(other);
  Value* zero = ir_.getInt64(0);
  const bool uniform = a.kind == Address::Kind::uniform;
  f_.call("wg_count_affine", ir_.getVoidTy(),
          {f_.context_argument, sites_.number(), a.base, uniform ? zero : a.kx, uniform ? zero : a.ky, mask});
  read_sites_again();
  ir_.CreateBr(counted);
  ir_.SetInsertPoint(counted);
  llvm::PHINode* by_table = ir_.CreatePHI(ir_.getInt1Ty(), 2);
  by_table->addIncoming(ir_.getTrue(), known);
  by_table->addIncoming(ir_.getFalse(), other);
  return by_table;
}

}  // namespace warpgrind::jit
