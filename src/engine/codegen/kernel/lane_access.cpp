// Window check, regular steps, and masked gathers and scatters for arbitrary lane addresses.
#include "codegen/kernel/lane_access.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/assert.h"
#include "codegen/kernel/access_facts.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;

// Whether the memory order allows masked gathers and scatters.
bool LaneAccess::serves_order() const {
  if (f_.unit.options.every_access || f_.unit.options.definedness) return false;
  using M = ptx::Modifier;
  const ptx::Instruction& i = f_.instruction();
  // A load that polls for another thread's store must read memory each time, and gathers need not.
  return memory_order(i) == events::MemoryOrder::weak && !i.has(M::cg) && !i.has(M::cv);
}

// Quick code of a new kernel leaves the access to the device.
bool LaneAccess::left_in(bool serves) const {
  constexpr std::uint64_t kInstructions = 90;  // mean of CUB's sorts, scans and reductions
  if (serves && f_.unit.quick_start) f_.unit.left_out += kInstructions;
  return serves && !f_.unit.quick_start;
}

bool LaneAccess::serves(const Address& a, StateSpace space, unsigned bytes, unsigned count) const {
  if (!serves_order() || a.kind == Address::Kind::uniform || bytes > 8) return false;
  if (space == StateSpace::local) return left_in(count == 1);
  constexpr unsigned kMost = 16;  // bytes; longer vectors are rare
  if (a.kind != Address::Kind::varying || bytes * count > kMost) return false;
  return left_in(space == StateSpace::global || space == StateSpace::constant || space == StateSpace::shared);
}

bool LaneAccess::serves_apart(const Address& a, StateSpace space, unsigned bytes, unsigned count) const {
  if (!serves_order() || a.kind != Address::Kind::affine || f_.unit.options.watched) return false;
  if (bytes > 8 || bytes < 4 || !gathers(count)) return false;
  return left_in(space == StateSpace::global || space == StateSpace::constant || space == StateSpace::shared);
}

bool LaneAccess::gathers(unsigned count) {
  return count == 1;
}

llvm::MDNode* LaneAccess::weights(std::uint32_t first, std::uint32_t second) const {
  const auto weight = [&](std::uint32_t n) { return llvm::ConstantAsMetadata::get(ir_.getInt32(n)); };
  return llvm::MDNode::get(f_.context(),
                           {llvm::MDString::get(f_.context(), "branch_weights"), weight(first), weight(second)});
}

Value* LaneAccess::own(Value* lanes) {
  if (llvm::cast<llvm::FixedVectorType>(lanes->getType())->getNumElements() == width_) return lanes;
  llvm::SmallVector<int, kWarpSize> first;
  for (unsigned l = 0; l < width_; ++l) first.push_back(static_cast<int>(l));
  return ir_.CreateShuffleVector(lanes, first);
}

Value* LaneAccess::all_lanes(Value* of_own) {
  if (width_ == kWarpSize) return of_own;
  llvm::SmallVector<int, kWarpSize> both;
  for (unsigned l = 0; l < kWarpSize; ++l) both.push_back(static_cast<int>(l));
  return ir_.CreateShuffleVector(of_own, llvm::Constant::getNullValue(of_own->getType()), both);
}

Value* LaneAccess::mask() {
  if (width_ == kWarpSize || !f_.has_avx512()) return own(masks_.lanes());
  return ir_.CreateBitCast(ir_.CreateTrunc(masks_.bits(), ir_.getIntNTy(width_)), vector(ir_.getInt1Ty()));
}

// Addresses of shared memory as 32-bit integers, in which arithmetic costs half; null: they may need 64 bits.
Value* LaneAccess::narrow(Value* addresses, StateSpace space) {
  if (space != StateSpace::shared) return nullptr;
  const llvm::SimplifyQuery query(f_.unit.llvm->getDataLayout());
  if (!llvm::MaskedValueIsZero(addresses, llvm::APInt::getHighBitsSet(64, 32), query)) return nullptr;
  return ir_.CreateTrunc(addresses, vector(ir_.getInt32Ty()));
}

// Whether all active lanes are set.
Value* LaneAccess::all_active(Value* lanes) {
  Value* set = ir_.CreateBitCast(lanes, ir_.getIntNTy(width_));
  Value* active = ir_.CreateTrunc(masks_.bits(), ir_.getIntNTy(width_));
  return ir_.CreateICmpEQ(ir_.CreateAnd(set, active), active);
}

Value* LaneAccess::splat_first(Value* lanes) {
  return ir_.CreateShuffleVector(lanes, llvm::SmallVector<int, kWarpSize>(width_, 0));
}

Value* LaneAccess::begin(Value* addresses, Value* state, unsigned bytes, StateSpace space, BasicBlock* slow) {
  WG_ASSERT(std::has_single_bit(bytes));
  addresses = own(addresses);
  Value* const short_ones = narrow(addresses, space);
  llvm::Type *i64 = ir_.getInt64Ty(), *type = short_ones ? ir_.getInt32Ty() : i64;
  // An empty window has no places; in shared memory low and places have 32 bits.
  const auto field = [&](std::size_t offset) {
    Value* word = ir_.CreateLoad(i64, f_.at(state, offsetof(SiteState, lanes) + offset));
    return splat(ir_.CreateTrunc(word, type));
  };
  Value* distances = ir_.CreateSub(short_ones ? short_ones : addresses, field(offsetof(LaneRequests, low)));
  BasicBlock* quick = f_.new_block("in_window");
  if (!f_.has_avx512()) {
    check_avx2(distances, state, bytes, quick, slow);
    return short_ones ? ir_.CreateZExt(distances, vector(i64)) : distances;
  }
  Value* places = distances;
  if (bytes > 1)
    places = ir_.CreateIntrinsic(
        vector(type), llvm::Intrinsic::fshr,
        {distances, distances,
         splat(ir_.getIntN(type->getIntegerBitWidth(), static_cast<unsigned>(std::countr_zero(bytes))))});
  Value* all_good = all_active(ir_.CreateICmpULT(places, field(offsetof(LaneRequests, places))));
  Value* some = ir_.CreateICmpNE(masks_.bits(), ir_.getInt32(0));
  ir_.CreateCondBr(ir_.CreateAnd(all_good, some), quick, slow, weights(1000, 1));
  ir_.SetInsertPoint(quick);
  return short_ones ? ir_.CreateZExt(distances, vector(i64)) : distances;
}

// Whether no lane has one of the bits.
Value* LaneAccess::none_has(Value* lanes, std::uint64_t bits) {
  constexpr unsigned kVector = 256, kQuads = 4;
  const unsigned width = lanes->getType()->getScalarSizeInBits(), at_once = kVector / width;
  Value* any = nullptr;
  for (unsigned first = 0; first < width_; first += at_once) {
    Value* next = f_.slice(lanes, first, at_once);
    any = any ? ir_.CreateOr(any, next) : next;
  }
  llvm::Type* quads = llvm::FixedVectorType::get(ir_.getInt64Ty(), kQuads);
  Value* which = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(at_once),
                                                ir_.getIntN(width, bits & ~std::uint64_t{0} >> (64 - width)));
  Value* none = ir_.CreateIntrinsic(llvm::Intrinsic::x86_avx_ptestz_256, {},
                                    {ir_.CreateBitCast(any, quads), ir_.CreateBitCast(which, quads)});
  return ir_.CreateICmpNE(none, ir_.getInt32(0));
}

// AVX2 has no unsigned comparisons, and bits of lanes cost it many instructions. Here a lane is good if the signs of
// two numbers and their lowest bits are 0: its distance from the first element of the window, and that from the last.
void LaneAccess::check_avx2(Value* distances, Value* state, unsigned bytes, BasicBlock* quick, BasicBlock* slow) {
  auto* const type = llvm::cast<llvm::IntegerType>(distances->getType()->getScalarType());
  constexpr std::size_t kPlaces = offsetof(SiteState, lanes) + offsetof(LaneRequests, places);
  Value* places = ir_.CreateTrunc(ir_.CreateLoad(ir_.getInt64Ty(), f_.at(state, kPlaces)), type);
  Value* last =
      ir_.CreateMul(ir_.CreateSub(places, llvm::ConstantInt::get(type, 1)), llvm::ConstantInt::get(type, bytes));
  Value* bad = ir_.CreateOr(distances, ir_.CreateSub(splat(last), distances));
  const std::uint64_t bits = type->getSignBit() | (bytes - 1);
  if (!f_.layout.one_row) {
    BasicBlock *all = f_.new_block("all_lanes"), *some = f_.new_block("some_lanes");
    ir_.CreateCondBr(masks_.all_on(), all, some);
    ir_.SetInsertPoint(all);
    ir_.CreateCondBr(none_has(bad, bits), quick, slow, weights(1000, 1));
    ir_.SetInsertPoint(some);
  }
  Value* good = none_has(ir_.CreateSelect(mask(), bad, llvm::Constant::getNullValue(bad->getType())), bits);
  good = ir_.CreateAnd(good, ir_.CreateICmpNE(masks_.bits(), ir_.getInt32(0)));
  ir_.CreateCondBr(good, quick, slow, weights(1000, 1));
  ir_.SetInsertPoint(quick);
}

Value* LaneAccess::begin_apart(Value* addresses, Value* state, unsigned bytes, StateSpace space, BasicBlock* slow) {
  BasicBlock* some = f_.new_block("some_lanes");
  ir_.CreateCondBr(masks_.all_on(), slow, some);
  ir_.SetInsertPoint(some);
  return begin(addresses, state, bytes, space, slow);
}

std::int64_t LaneAccess::expected_step(const Address& a, unsigned bytes) const {
  WG_ASSERT(a.operand);
  const std::int64_t guess = f_.lane_steps.of(*a.operand);
  return std::abs(guess) > bytes ? guess : bytes;
}

void LaneAccess::branch(Value* addresses, Value* state, std::int64_t expected, const Ways& ways) {
  llvm::Type* i64 = ir_.getInt64Ty();
  addresses = own(addresses);
  const auto field = [&](std::size_t offset) { return f_.at(state, offsetof(SiteState, lanes) + offset); };
  BasicBlock* all_on = f_.new_block("all_on");
  BasicBlock* in_steps = f_.new_block("in_steps");
  ir_.CreateCondBr(masks_.all_on(), all_on, ways.irregular);
  ir_.SetInsertPoint(all_on);
  Value* steps = ir_.CreateAlignedLoad(vector(i64), field(offsetof(LaneRequests, steps)), llvm::Align(64));
  Value* apart = ir_.CreateSub(addresses, splat_first(addresses));
  Value* regular = f_.has_avx512() ? all_active(ir_.CreateICmpEQ(apart, steps))
                                   : none_has(ir_.CreateXor(apart, steps), ~std::uint64_t{0});
  ir_.CreateCondBr(regular, in_steps, ways.irregular);
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
  Value* offsets = ir_.CreateSelect(mask(), ir_.CreateTrunc(distances, vector(i32)), splat(ir_.getInt32(kLaneOff)));
  if (width_ < kWarpSize) {  // the others are off, too
    llvm::SmallVector<int, kWarpSize> both;
    for (unsigned l = 0; l < kWarpSize; ++l) both.push_back(static_cast<int>(l));
    offsets = ir_.CreateShuffleVector(offsets, splat(ir_.getInt32(kLaneOff)), both);
  }
  llvm::Type* row_type = llvm::FixedVectorType::get(i32, kWarpSize);
  Value* row = ir_.CreateInBoundsGEP(row_type, f_.at(state, kRequests + offsetof(KeptRequests, offsets)), kept);
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
Value* LaneAccess::gather(const Places& places, llvm::Type* element, unsigned alignment) {
  if (!f_.has_avx512()) return gather_avx2(places, element);
  return ir_.CreateMaskedGather(vector(element), pointers(places), llvm::Align(alignment), mask(),
                                llvm::Constant::getNullValue(vector(element)));
}

// LLVM takes the lanes one by one, with a branch for each, where it holds the CPU's gathers for slow.
Value* LaneAccess::gather_avx2(const Places& places, llvm::Type* element) {
  const unsigned bits = element->getPrimitiveSizeInBits();
  const bool words = bits == 32, narrow = places.base != nullptr;  // of elements; of offsets
  const unsigned at_once = words && narrow ? 8 : 4;
  const llvm::Intrinsic::ID gather_of =
      words    ? narrow ? llvm::Intrinsic::x86_avx2_gather_d_d_256 : llvm::Intrinsic::x86_avx2_gather_q_d_256
      : narrow ? llvm::Intrinsic::x86_avx2_gather_d_q_256
               : llvm::Intrinsic::x86_avx2_gather_q_q_256;
  llvm::Type* type = llvm::FixedVectorType::get(ir_.getIntNTy(bits), at_once);
  Value* base = narrow ? places.base : llvm::ConstantPointerNull::get(ir_.getPtrTy());
  Value* on = ir_.CreateSExt(mask(), vector(ir_.getInt32Ty()));
  std::vector<Value*> parts;
  for (unsigned first = 0; first < width_; first += at_once)
    parts.push_back(
        ir_.CreateIntrinsic(gather_of, {},
                            {llvm::Constant::getNullValue(type), base, f_.slice(places.offsets, first, at_once),
                             ir_.CreateSExtOrBitCast(f_.slice(on, first, at_once), type), ir_.getInt8(1)}));
  return ir_.CreateBitCast(f_.concatenated(std::move(parts)), vector(element));
}

void LaneAccess::scatter(Value* value, const Places& places) {
  Value* to = pointers(places);
  if (!f_.has_avx512()) return store_one_by_one(to, value);
  ir_.CreateMaskedScatter(value, to, llvm::Align(value->getType()->getScalarSizeInBits() / 8), mask());
}

Value* LaneAccess::pointers(const Places& places) {
  if (!places.base) return ir_.CreateIntToPtr(places.offsets, vector(ir_.getPtrTy()));
  return ir_.CreateGEP(ir_.getInt8Ty(), places.base, places.offsets);
}

LaneAccess::Places LaneAccess::lane_places(Value* addresses, StateSpace space) {
  if (space != StateSpace::shared) return {nullptr, addresses};
  return {f_.context_field(offsetof(WarpContext, shared), ir_.getPtrTy(), "shared"),
          ir_.CreateTrunc(addresses, vector(ir_.getInt32Ty()))};
}

// Word w of lane l lies at (w*32 + l)*4.
LaneAccess::Places LaneAccess::local_words(Value* addresses, std::uint64_t next) {
  llvm::SmallVector<std::uint32_t, kWarpSize> lanes;
  for (std::uint32_t l = 0; l < width_; ++l) lanes.push_back(4 * l);
  Value* offsets = ir_.CreateTrunc(addresses, vector(ir_.getInt32Ty()));
  Value* rows = ir_.CreateShl(ir_.CreateAnd(offsets, splat(ir_.getInt32(~3u))), splat(ir_.getInt32(5)));
  Value* local = f_.context_field(offsetof(WarpContext, local), ir_.getPtrTy(), "local");
  return {f_.at(local, next * 4 * kWarpSize), ir_.CreateAdd(rows, llvm::ConstantDataVector::get(f_.context(), lanes))};
}

LaneAccess::Words LaneAccess::words(Value* addresses, StateSpace space) {
  Value* within = ir_.CreateAnd(ir_.CreateTrunc(addresses, vector(ir_.getInt32Ty())), splat(ir_.getInt32(3)));
  Value* shift = ir_.CreateShl(within, splat(ir_.getInt32(3)));
  if (space == StateSpace::local) return {local_words(addresses, 0), shift};
  return {lane_places(ir_.CreateAnd(addresses, splat(ir_.getInt64(~std::uint64_t{3}))), space), shift};
}

// Host address of a lane's element. The lane may be off. Its address in shared memory may then be negative.
Value* LaneAccess::pointer_of(Value* addresses, unsigned lane, StateSpace space) {
  Value* own = ir_.CreateExtractElement(addresses, lane);
  if (space != StateSpace::shared) return ir_.CreateIntToPtr(own, ir_.getPtrTy());
  Value* shared = f_.context_field(offsetof(WarpContext, shared), ir_.getPtrTy(), "shared");
  return ir_.CreateGEP(ir_.getInt8Ty(), shared, ir_.CreateTrunc(own, ir_.getInt32Ty()));
}

// Elements row[index] of a row of 32. The five lowest bits of an index count.
Value* LaneAccess::permuted(Value* row, Value* index) {
  constexpr unsigned kHalf = kWarpSize / 2, kQuarter = kWarpSize / 4;
  std::vector<Value*> parts;
  if (f_.has_avx512()) {
    for (unsigned first = 0; first < width_; first += kHalf)
      parts.push_back(
          ir_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                              {f_.slice(row, 0, kHalf), f_.slice(index, first, kHalf), f_.slice(row, kHalf, kHalf)}));
    return f_.concatenated(std::move(parts));
  }
  llvm::Type* type = llvm::FixedVectorType::get(ir_.getInt32Ty(), kQuarter);
  for (unsigned first = 0; first < width_; first += kQuarter) {
    Value* own = f_.slice(index, first, kQuarter);
    const auto of_quarter = [&](unsigned q) {
      return ir_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd, {}, {f_.slice(row, q * kQuarter, kQuarter), own});
    };
    const auto choose = [&](unsigned bit, Value* zero, Value* one) {  // by the sign of what is shifted, as blendv does
      Value* sign = ir_.CreateShl(own, llvm::ConstantInt::get(type, 31 - bit));
      return ir_.CreateSelect(ir_.CreateICmpSLT(sign, llvm::Constant::getNullValue(type)), one, zero);
    };
    parts.push_back(choose(4, choose(3, of_quarter(0), of_quarter(1)), choose(3, of_quarter(2), of_quarter(3))));
  }
  return f_.concatenated(std::move(parts));
}

// Lanes near lane 0 (clamped neighbours in stencils, rows of which some lanes are off) take their elements from two
// vectors by permutations, which cost a tenth of gathers on an AMD EPYC (family 25). Elements outside the window are
// not read.
Value* LaneAccess::load_near(Value* addresses, Value* distances, Value* state, StateSpace space, llvm::Type* element) {
  llvm::Type *i32 = ir_.getInt32Ty(), *i64 = ir_.getInt64Ty();
  constexpr unsigned kBytes = 4;
  addresses = own(addresses);
  Value* const short_ones = ir_.CreateTrunc(distances, vector(i32));  // a window has less than 4 GiB
  Value* apart = ir_.CreateSub(short_ones, splat_first(short_ones));
  constexpr std::uint64_t kNear = kWarpSize * kBytes;
  Value* near = f_.has_avx512() ? all_active(ir_.CreateICmpULT(apart, splat(ir_.getInt32(kNear))))
                                : none_has(ir_.CreateSelect(mask(), apart, llvm::Constant::getNullValue(vector(i32))),
                                           ~(kNear - 1));
  Value* places = ir_.CreateLoad(i64, f_.at(state, offsetof(SiteState, lanes) + offsetof(LaneRequests, places)));
  Value* first = ir_.CreateExtractElement(distances, std::uint64_t{0});
  first = ir_.CreateIntrinsic(i64, llvm::Intrinsic::fshr, {first, first, ir_.getInt64(std::countr_zero(kBytes))});
  near = ir_.CreateAnd(near, ir_.CreateICmpULT(first, places));  // lane 0 may be off
  // A long load waits for short stores to it that are still on their way. A diagonal of which few lanes are on is
  // mostly such a case (Rodinia's nw would take twice as long).
  constexpr std::uint32_t kFewLanes = 8;
  Value* active = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, masks_.bits());
  near = ir_.CreateAnd(near, ir_.CreateICmpUGT(active, ir_.getInt32(kFewLanes)));
  BasicBlock *in_row = f_.new_block("near"), *far = f_.new_block("far"), *join = f_.new_block("near_or_far");
  ir_.CreateCondBr(near, in_row, far);

  ir_.SetInsertPoint(in_row);
  Value* left = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, ir_.CreateSub(places, first), ir_.getInt64(kWarpSize));
  Value* there = ir_.CreateSub(ir_.CreateShl(ir_.getInt64(1), left), ir_.getInt64(1));
  llvm::Type* row_type = llvm::FixedVectorType::get(i32, kWarpSize);
  Value* row =
      ir_.CreateMaskedLoad(row_type, pointer_of(addresses, 0, space), llvm::Align(kBytes),
                           f_.bits_to_lanes(ir_.CreateTrunc(there, i32)), llvm::Constant::getNullValue(row_type));
  Value* index = ir_.CreateLShr(apart, splat(ir_.getInt32(std::countr_zero(kBytes))));
  Value* picked = ir_.CreateSelect(mask(), permuted(row, index), llvm::Constant::getNullValue(vector(i32)));
  if (element != i32) picked = ir_.CreateBitCast(picked, vector(element));
  BasicBlock* near_end = ir_.GetInsertBlock();
  ir_.CreateBr(join);

  ir_.SetInsertPoint(far);
  Value* gathered = gather(lane_places(addresses, space), element, kBytes);
  BasicBlock* far_end = ir_.GetInsertBlock();
  ir_.CreateBr(join);
  ir_.SetInsertPoint(join);
  llvm::PHINode* value = ir_.CreatePHI(vector(element), 2);
  value->addIncoming(picked, near_end);
  value->addIncoming(gathered, far_end);
  return all_lanes(value);
}

Value* LaneAccess::load_irregular(Value* addresses, Value* distances, Value* state, StateSpace space,
                                  llvm::Type* element) {
  if (space != StateSpace::local && element->getPrimitiveSizeInBits() == 32)
    return load_near(addresses, distances, state, space, element);
  return load(addresses, space, element);
}

Value* LaneAccess::load(Value* addresses, StateSpace space, llvm::Type* element) {
  const unsigned bits = element->getPrimitiveSizeInBits();
  llvm::Type *i32 = ir_.getInt32Ty(), *i64 = ir_.getInt64Ty();
  addresses = own(addresses);
  Value* value = nullptr;
  if (bits < 32) {  // CPUs gather words; the rest of the word is in the same page and is discarded
    const Words w = words(addresses, space);
    value = ir_.CreateTrunc(ir_.CreateLShr(gather(w.places, i32, 4), w.shift), vector(ir_.getIntNTy(bits)));
  } else if (space != StateSpace::local) {
    return all_lanes(gather(lane_places(addresses, space), element, bits / 8));
  } else {
    value = gather(local_words(addresses, 0), i32, 4);
    if (bits == 64) {
      Value* high = ir_.CreateZExt(gather(local_words(addresses, 1), i32, 4), vector(i64));
      value = ir_.CreateOr(ir_.CreateZExt(value, vector(i64)), ir_.CreateShl(high, splat(ir_.getInt64(32))));
    }
  }
  return all_lanes(element->isIntegerTy() ? value : ir_.CreateBitCast(value, vector(element)));
}

// Read-modify-write is safe: no other thread writes a lane's words.
void LaneAccess::store_part_of_words(Value* addresses, Value* value, unsigned bits) {
  llvm::Type* i32 = ir_.getInt32Ty();
  const Words w = words(addresses, StateSpace::local);
  Value* ones = ir_.CreateShl(splat(ir_.getInt32((1u << bits) - 1)), w.shift);
  Value* beside = ir_.CreateAnd(gather(w.places, i32, 4), ir_.CreateNot(ones));
  Value* put = ir_.CreateShl(ir_.CreateZExt(value, vector(i32)), w.shift);
  scatter(ir_.CreateOr(beside, put), w.places);
}

// CPUs scatter no elements smaller than a word. A call of the device for them took a tenth of Rodinia's bfs.
void LaneAccess::store_one_by_one(Value* pointers, Value* value) {
  llvm::Type *i32 = ir_.getInt32Ty(), *element = value->getType()->getScalarType();
  llvm::AllocaInst* const to = f_.entry_alloca(pointers->getType(), "lane_pointers", 64);
  llvm::AllocaInst* const from = f_.entry_alloca(value->getType(), "lane_values", 64);
  ir_.CreateAlignedStore(pointers, to, llvm::Align(64));
  ir_.CreateAlignedStore(value, from, llvm::Align(64));
  Value* const active = masks_.bits();
  BasicBlock *before = ir_.GetInsertBlock(), *each = f_.new_block("each_lane"), *done = f_.new_block("each_stored");
  ir_.CreateBr(each);
  ir_.SetInsertPoint(each);
  llvm::PHINode* left = ir_.CreatePHI(i32, 2);
  left->addIncoming(active, before);
  Value* lane = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, ir_.getTrue());
  Value* at = ir_.CreateLoad(ir_.getPtrTy(), ir_.CreateInBoundsGEP(ir_.getPtrTy(), to, lane));
  Value* own = ir_.CreateLoad(element, ir_.CreateInBoundsGEP(element, from, lane));
  ir_.CreateAlignedStore(own, at, llvm::Align(element->getPrimitiveSizeInBits() / 8));
  Value* rest = ir_.CreateAnd(left, ir_.CreateSub(left, ir_.getInt32(1)));
  left->addIncoming(rest, each);
  ir_.CreateCondBr(ir_.CreateICmpNE(rest, ir_.getInt32(0)), each, done);
  ir_.SetInsertPoint(done);
}

// If lanes share an address, the highest lane wins, as in a serial order. Scatters behave the same way.
void LaneAccess::store(Value* addresses, StateSpace space, Value* value) {
  const unsigned bits = value->getType()->getScalarSizeInBits();
  addresses = own(addresses);
  value = own(value);
  if (space != StateSpace::local) {
    if (bits < 32) return store_one_by_one(pointers(lane_places(addresses, space)), value);
    return scatter(value, lane_places(addresses, space));
  }
  if (!value->getType()->getScalarType()->isIntegerTy()) value = ir_.CreateBitCast(value, vector(ir_.getIntNTy(bits)));
  if (bits < 32) return store_part_of_words(addresses, value, bits);
  for (unsigned w = 0; w < bits / 32; ++w) {
    Value* part = w == 0 ? value : ir_.CreateLShr(value, splat(ir_.getIntN(bits, 32)));
    scatter(ir_.CreateTrunc(part, vector(ir_.getInt32Ty())), local_words(addresses, w));
  }
}

// Contiguous lanes of which some are off need no scatter, which takes ten times as long.
void LaneAccess::store_irregular(Value* addresses, StateSpace space, Value* value) {
  if (space == StateSpace::local) return store(addresses, space, value);
  const unsigned bytes = value->getType()->getScalarSizeInBits() / 8;
  addresses = own(addresses);
  value = own(value);
  Value* const short_ones = narrow(addresses, space);
  Value* const all = short_ones ? short_ones : addresses;
  llvm::SmallVector<llvm::Constant*, kWarpSize> steps;
  for (unsigned l = 0; l < width_; ++l) steps.push_back(ir_.getIntN(short_ones ? 32 : 64, std::uint64_t{l} * bytes));
  Value* in_steps = ir_.CreateICmpEQ(ir_.CreateSub(all, splat_first(all)), llvm::ConstantVector::get(steps));
  BasicBlock *in_row = f_.new_block("in_row"), *far = f_.new_block("far"), *join = f_.new_block("stored");
  ir_.CreateCondBr(all_active(in_steps), in_row, far);
  ir_.SetInsertPoint(in_row);
  ir_.CreateMaskedStore(value, pointer_of(addresses, 0, space), llvm::Align(bytes), mask());
  ir_.CreateBr(join);
  ir_.SetInsertPoint(far);
  store(addresses, space, value);
  ir_.CreateBr(join);
  ir_.SetInsertPoint(join);
}

bool LaneAccess::side_by_side(const Address& a, llvm::Type* element) const {
  return a.constant_kx && !a.exact && *a.constant_kx == element->getPrimitiveSizeInBits() / 8;
}

Value* LaneAccess::row_of(Value* lanes, unsigned row) {
  const unsigned length = std::min(f_.layout.row_length, width_);
  llvm::SmallVector<int, kWarpSize> pick;
  for (unsigned l = 0; l < length; ++l) pick.push_back(static_cast<int>(row * length + l));
  return ir_.CreateShuffleVector(lanes, pick);
}

Value* LaneAccess::load_apart(Address& a, Value* addresses, StateSpace space, llvm::Type* element) {
  if (!side_by_side(a, element)) return load(addresses, space, element);
  const unsigned length = std::min(f_.layout.row_length, width_);
  llvm::Type* type = llvm::FixedVectorType::get(element, length);
  addresses = own(addresses);
  Value* whole = llvm::Constant::getNullValue(vector(element));
  for (unsigned r = 0; r < width_ / length; ++r) {
    Value* row = ir_.CreateMaskedLoad(type, pointer_of(addresses, r * length, space),
                                      llvm::Align(element->getPrimitiveSizeInBits() / 8), row_of(mask(), r),
                                      llvm::Constant::getNullValue(type));
    llvm::SmallVector<int, kWarpSize> spread, merge;
    for (unsigned l = 0; l < width_; ++l) {
      spread.push_back(l / length == r ? static_cast<int>(l % length) : llvm::PoisonMaskElem);
      merge.push_back(static_cast<int>(l / length == r ? l + width_ : l));
    }
    whole = ir_.CreateShuffleVector(whole, ir_.CreateShuffleVector(row, spread), merge);
  }
  return all_lanes(whole);
}

void LaneAccess::store_apart(Address& a, Value* addresses, StateSpace space, Value* value) {
  llvm::Type* element = value->getType()->getScalarType();
  addresses = own(addresses);
  value = own(value);
  if (!side_by_side(a, element)) return store(addresses, space, value);
  const unsigned length = std::min(f_.layout.row_length, width_);
  for (unsigned r = 0; r < width_ / length; ++r)
    ir_.CreateMaskedStore(row_of(value, r), pointer_of(addresses, r * length, space),
                          llvm::Align(element->getPrimitiveSizeInBits() / 8), row_of(mask(), r));
}

}  // namespace warpgrind::jit
