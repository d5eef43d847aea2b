// Window check, regular steps, and masked gathers and scatters for arbitrary lane addresses.
#include "codegen/kernel/lane_access.h"

#include <llvm/IR/Constants.h>

#include <bit>
#include <cstdlib>

#include "base/assert.h"
#include "codegen/kernel/access_facts.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;

// Whether the memory order and the host allow masked gathers and scatters.
bool LaneAccess::serves_order() const {
  if (f_.unit.options.every_access || f_.unit.options.definedness) return false;
  if (!f_.has_avx512()) return false;  // without AVX-512 the device is as fast
  using M = ptx::Modifier;
  const ptx::Instruction& i = f_.instruction();
  // A load that polls for another thread's store must read memory each time, and gathers need not.
  return memory_order(i) == events::MemoryOrder::weak && !i.has(M::cg) && !i.has(M::cv);
}

bool LaneAccess::serves(const Address& a, StateSpace space, unsigned bytes, unsigned count) const {
  if (!serves_order() || a.kind == Address::Kind::uniform || bytes > 8) return false;
  if (space == StateSpace::local) return count == 1;
  constexpr unsigned kMost = 16;  // bytes; longer vectors are rare
  if (a.kind != Address::Kind::varying || bytes * count > kMost) return false;
  return space == StateSpace::global || space == StateSpace::constant || space == StateSpace::shared;
}

bool LaneAccess::serves_apart(const Address& a, StateSpace space, unsigned bytes, unsigned count, bool store) const {
  if (!serves_order() || a.kind != Address::Kind::affine || f_.unit.options.watched) return false;
  if (bytes > 8 || bytes < 4 || !gathers(space, bytes, count, store)) return false;
  return space == StateSpace::global || space == StateSpace::constant || space == StateSpace::shared;
}

bool LaneAccess::gathers(StateSpace space, unsigned bytes, unsigned count, bool store) {
  return count == 1 && (space == StateSpace::local || !store || bytes >= 4);
}

llvm::MDNode* LaneAccess::weights(std::uint32_t first, std::uint32_t second) const {
  const auto weight = [&](std::uint32_t n) { return llvm::ConstantAsMetadata::get(ir_.getInt32(n)); };
  return llvm::MDNode::get(f_.context(),
                           {llvm::MDString::get(f_.context(), "branch_weights"), weight(first), weight(second)});
}

Value* LaneAccess::begin(Value* addresses, Value* state, unsigned bytes, BasicBlock* slow) {
  WG_ASSERT(std::has_single_bit(bytes));
  llvm::Type* i64 = ir_.getInt64Ty();
  const auto field = [&](std::size_t offset) {
    return f_.splat(ir_.CreateLoad(i64, f_.at(state, offsetof(SiteState, lanes) + offset)));
  };
  Value* distances = ir_.CreateSub(addresses, field(offsetof(LaneRequests, low)));
  Value* places = distances;
  if (bytes > 1)
    places = ir_.CreateIntrinsic(vector(i64), llvm::Intrinsic::fshr,
                                 {distances, distances, f_.splat(ir_.getInt64(std::countr_zero(bytes)))});
  Value* good = f_.lanes_to_bits(ir_.CreateICmpULT(places, field(offsetof(LaneRequests, places))));
  Value* mask = masks_.bits();
  Value* all_good = ir_.CreateICmpEQ(ir_.CreateAnd(good, mask), mask);
  BasicBlock* quick = f_.new_block("in_window");
  ir_.CreateCondBr(ir_.CreateAnd(all_good, ir_.CreateICmpNE(mask, ir_.getInt32(0))), quick, slow, weights(1000, 1));
  ir_.SetInsertPoint(quick);
  return distances;
}

Value* LaneAccess::begin_apart(Value* addresses, Value* state, unsigned bytes, BasicBlock* slow) {
  BasicBlock* some = f_.new_block("some_lanes");
  ir_.CreateCondBr(ir_.CreateICmpEQ(masks_.bits(), ir_.getInt32(kFullMask)), slow, some);
  ir_.SetInsertPoint(some);
  return begin(addresses, state, bytes, slow);
}

std::int64_t LaneAccess::expected_step(const Address& a, unsigned bytes) const {
  WG_ASSERT(a.operand);
  const std::int64_t guess = f_.lane_steps.of(*a.operand);
  return std::abs(guess) > bytes ? guess : bytes;
}

void LaneAccess::branch(Value* addresses, Value* state, std::int64_t expected, const Ways& ways) {
  llvm::Type* i64 = ir_.getInt64Ty();
  const auto field = [&](std::size_t offset) { return f_.at(state, offsetof(SiteState, lanes) + offset); };
  Value* first = ir_.CreateShuffleVector(addresses, llvm::SmallVector<int, kWarpSize>(kWarpSize, 0));
  Value* steps = ir_.CreateAlignedLoad(vector(i64), field(offsetof(LaneRequests, steps)), llvm::Align(64));
  Value* regular = f_.lanes_to_bits(ir_.CreateICmpEQ(ir_.CreateSub(addresses, first), steps));
  BasicBlock* in_steps = f_.new_block("in_steps");
  ir_.CreateCondBr(ir_.CreateICmpEQ(ir_.CreateAnd(regular, masks_.bits()), ir_.getInt32(kFullMask)), in_steps,
                   ways.irregular);
  ir_.SetInsertPoint(in_steps);
  Value* as_expected = ir_.CreateICmpEQ(step(state), ir_.getInt64(static_cast<std::uint64_t>(expected)));
  ir_.CreateCondBr(as_expected, ways.expected, ways.strided);
}

// Bytes from one lane to the next.
Value* LaneAccess::step(Value* state) {
  constexpr std::size_t kStep = offsetof(LaneRequests, steps) + sizeof(std::uint64_t);
  return ir_.CreateLoad(ir_.getInt64Ty(), f_.at(state, offsetof(SiteState, lanes) + kStep));
}

Address LaneAccess::expected(Value* addresses, std::int64_t step) {
  Address a = in_steps(addresses, ir_.getInt64(static_cast<std::uint64_t>(step)));
  a.constant_kx = step;
  a.constant_ky = step * f_.layout.row_length;
  return a;
}

Address LaneAccess::strided(Value* addresses, Value* state) {
  return in_steps(addresses, step(state));
}

Address LaneAccess::in_steps(Value* addresses, Value* step) {
  Address a;
  a.kind = Address::Kind::affine;
  a.base = ir_.CreateExtractElement(addresses, std::uint64_t{0});
  a.kx = step;
  a.ky = ir_.CreateMul(a.kx, ir_.getInt64(f_.layout.row_length));
  return a;
}

void LaneAccess::count_regular(Value* addresses, Value* state) {
  if (!f_.unit.options.counters) return;
  Value* bin = ir_.CreateAnd(ir_.CreateExtractElement(addresses, std::uint64_t{0}), ir_.getInt64(255));
  Value* hits = f_.at(state, offsetof(SiteState, lanes) + offsetof(LaneRequests, in_steps));
  counting_.bump(ir_.CreateInBoundsGEP(ir_.getInt64Ty(), hits, bin), ir_.getInt64(1));
}

void LaneAccess::keep(Value* distances, Value* state) {
  if (!f_.unit.options.counters) return;
  llvm::Type *i64 = ir_.getInt64Ty(), *i32 = ir_.getInt32Ty();
  constexpr std::size_t kLanes = offsetof(SiteState, lanes), kRequests = kLanes + offsetof(LaneRequests, requests);
  Value* counter = f_.at(state, kLanes + offsetof(LaneRequests, kept));
  Value* kept = ir_.CreateLoad(i64, counter);
  Value* offsets =
      ir_.CreateSelect(masks_.lanes(), ir_.CreateTrunc(distances, vector(i32)), f_.splat(ir_.getInt32(kLaneOff)));
  Value* row = ir_.CreateInBoundsGEP(vector(i32), f_.at(state, kRequests + offsetof(KeptRequests, offsets)), kept);
  ir_.CreateAlignedStore(offsets, row, llvm::Align(64));
  ir_.CreateStore(masks_.bits(),
                  ir_.CreateInBoundsGEP(i32, f_.at(state, kRequests + offsetof(KeptRequests, masks)), kept));
  Value* more = ir_.CreateAdd(kept, ir_.getInt64(1));
  ir_.CreateStore(more, counter);
  BasicBlock* full = f_.new_block("full");
  BasicBlock* kept_all = f_.new_block("kept");
  ir_.CreateCondBr(ir_.CreateICmpEQ(more, ir_.getInt64(kKeptRequests)), full, kept_all, weights(1, kKeptRequests));
  ir_.SetInsertPoint(full);
  f_.call("wg_count_lanes", ir_.getVoidTy(), {f_.context_argument, sites_.number()});
  ir_.CreateBr(kept_all);
  ir_.SetInsertPoint(kept_all);
}

// Inactive lanes get 0: values computed from them must not be undefined.
Value* LaneAccess::gather(Value* pointers, llvm::Type* element, unsigned alignment) {
  return ir_.CreateMaskedGather(vector(element), pointers, llvm::Align(alignment), masks_.lanes(),
                                llvm::Constant::getNullValue(vector(element)));
}

Value* LaneAccess::lane_pointers(Value* addresses, StateSpace space) {
  if (space != StateSpace::shared) return ir_.CreateIntToPtr(addresses, vector(ir_.getPtrTy()));
  Value* shared = f_.context_field(offsetof(WarpContext, shared), ir_.getPtrTy(), "shared");
  return ir_.CreateGEP(ir_.getInt8Ty(), shared, ir_.CreateTrunc(addresses, vector(ir_.getInt32Ty())));
}

// Word w of lane l lies at (w*32 + l)*4.
Value* LaneAccess::local_words(Value* addresses, std::uint64_t next) {
  llvm::SmallVector<std::uint32_t, kWarpSize> lanes;
  for (std::uint32_t l = 0; l < kWarpSize; ++l) lanes.push_back(4 * l);
  Value* offsets = ir_.CreateTrunc(addresses, vector(ir_.getInt32Ty()));
  Value* rows = ir_.CreateShl(ir_.CreateAnd(offsets, f_.splat(ir_.getInt32(~3u))), f_.splat(ir_.getInt32(5)));
  Value* local = f_.context_field(offsetof(WarpContext, local), ir_.getPtrTy(), "local");
  return ir_.CreateGEP(ir_.getInt8Ty(), f_.at(local, next * 4 * kWarpSize),
                       ir_.CreateAdd(rows, llvm::ConstantDataVector::get(f_.context(), lanes)));
}

LaneAccess::Words LaneAccess::words(Value* addresses, StateSpace space) {
  Value* within = ir_.CreateAnd(ir_.CreateTrunc(addresses, vector(ir_.getInt32Ty())), f_.splat(ir_.getInt32(3)));
  Value* shift = ir_.CreateShl(within, f_.splat(ir_.getInt32(3)));
  if (space == StateSpace::local) return {local_words(addresses, 0), shift};
  return {lane_pointers(ir_.CreateAnd(addresses, f_.splat(ir_.getInt64(~std::uint64_t{3}))), space), shift};
}

Value* LaneAccess::load(Value* addresses, StateSpace space, llvm::Type* element) {
  const unsigned bits = element->getPrimitiveSizeInBits();
  llvm::Type *i32 = ir_.getInt32Ty(), *i64 = ir_.getInt64Ty();
  Value* value = nullptr;
  if (bits < 32) {  // CPUs gather words; the rest of the word is in the same page and is discarded
    const Words w = words(addresses, space);
    value = ir_.CreateTrunc(ir_.CreateLShr(gather(w.pointers, i32, 4), w.shift), vector(ir_.getIntNTy(bits)));
  } else if (space != StateSpace::local) {
    return gather(lane_pointers(addresses, space), element, bits / 8);
  } else {
    value = gather(local_words(addresses, 0), i32, 4);
    if (bits == 64) {
      Value* high = ir_.CreateZExt(gather(local_words(addresses, 1), i32, 4), vector(i64));
      value = ir_.CreateOr(ir_.CreateZExt(value, vector(i64)), ir_.CreateShl(high, f_.splat(ir_.getInt64(32))));
    }
  }
  return element->isIntegerTy() ? value : ir_.CreateBitCast(value, vector(element));
}

// Read-modify-write is safe: no other thread writes a lane's words.
void LaneAccess::store_part_of_words(Value* addresses, Value* value, unsigned bits) {
  llvm::Type* i32 = ir_.getInt32Ty();
  const Words w = words(addresses, StateSpace::local);
  Value* ones = ir_.CreateShl(f_.splat(ir_.getInt32((1u << bits) - 1)), w.shift);
  Value* beside = ir_.CreateAnd(gather(w.pointers, i32, 4), ir_.CreateNot(ones));
  Value* put = ir_.CreateShl(ir_.CreateZExt(value, vector(i32)), w.shift);
  ir_.CreateMaskedScatter(ir_.CreateOr(beside, put), w.pointers, llvm::Align(4), masks_.lanes());
}

// If lanes share an address, the highest lane wins, as in a serial order. Scatters behave the same way.
void LaneAccess::store(Value* addresses, StateSpace space, Value* value) {
  const unsigned bits = value->getType()->getScalarSizeInBits();
  if (space != StateSpace::local) {
    ir_.CreateMaskedScatter(value, lane_pointers(addresses, space), llvm::Align(bits / 8), masks_.lanes());
    return;
  }
  if (!value->getType()->getScalarType()->isIntegerTy()) value = ir_.CreateBitCast(value, vector(ir_.getIntNTy(bits)));
  if (bits < 32) return store_part_of_words(addresses, value, bits);
  for (unsigned w = 0; w < bits / 32; ++w) {
    Value* part = w == 0 ? value : ir_.CreateLShr(value, f_.splat(ir_.getIntN(bits, 32)));
    ir_.CreateMaskedScatter(ir_.CreateTrunc(part, vector(ir_.getInt32Ty())), local_words(addresses, w), llvm::Align(4),
                            masks_.lanes());
  }
}

}  // namespace warpgrind::jit
