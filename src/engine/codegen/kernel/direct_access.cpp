// Loads and stores of the host for uniform and affine accesses, as whole rows of lanes where possible.
#include "codegen/kernel/direct_access.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <bit>
#include <cstdlib>

#include "base/assert.h"

namespace warpgrind::jit {

using llvm::Value;

namespace {
constexpr unsigned kShortestRow = 8;  // fewest lanes for which a row with gaps pays off
}

Value* DirectAccess::host_pointer(Value* address, StateSpace space) {
  if (shadow_) {
    const bool shared = space == StateSpace::shared;
    const std::size_t field = shared ? offsetof(WarpContext, shared_shadow) : offsetof(WarpContext, global_shadow);
    address = ir_.CreateAdd(address, f_.context_field(field, ir_.getInt64Ty(), "shadow"));
  }
  if (space == StateSpace::shared)
    return ir_.CreateGEP(ir_.getInt8Ty(), f_.context_field(offsetof(WarpContext, shared), ir_.getPtrTy(), "shared"),
                         address);
  return ir_.CreateIntToPtr(address, ir_.getPtrTy());
}

Value* DirectAccess::lane_pointers(const Address& a, Value* pointer) {
  llvm::Type* i64 = ir_.getInt64Ty();
  Value* offsets = llvm::Constant::getNullValue(llvm::FixedVectorType::get(i64, kWarpSize));
  const auto add = [&](Value* k, bool y) {
    if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(k); c && c->isZero()) return;
    offsets = ir_.CreateAdd(offsets, ir_.CreateMul(f_.splat(k), f_.lane_pattern(y, 64)));
  };
  add(a.kx, false);
  add(a.ky, true);
  return ir_.CreateGEP(ir_.getInt8Ty(), pointer, offsets);
}

// Prefetches the data of a later warp, if rows lie in the order of blocks. Between the loads of two warps of a kernel
// with barriers there is more code than the processor looks ahead. Rows end before its own prefetchers have learned
// them. Tree reduction of 2^24 gets 1.40x as fast, transpose of 4096^2 1.35x; with all data in the caches 0.97x to
// 1.02x. Not used without barriers, where it costs time (vector addition 0.92x).
void DirectAccess::prefetch_behind(Value* row, std::uint64_t bytes) {
  constexpr std::uint64_t kDistance = 1024, kLine = 64;
  constexpr std::uint32_t kRead = 0, kAllCaches = 3, kData = 1;
  if (!f_.is_kernel || !f_.unit.has_regions) return;
  for (std::uint64_t at = 0; at < bytes; at += kLine)
    ir_.CreateIntrinsic(
        llvm::Intrinsic::prefetch, {ir_.getPtrTy()},
        {f_.at(row, kDistance + at), ir_.getInt32(kRead), ir_.getInt32(kAllCaches), ir_.getInt32(kData)});
}

// Pattern of lanes with a constant step of at most 8 words. A row includes the elements between its lanes.
std::optional<DirectAccess::Rows> DirectAccess::rows_of(const Address& a, unsigned bytes, unsigned count) const {
  constexpr std::int64_t kLongest = 32;  // also the longest access of a lane
  if (!a.constant_kx || *a.constant_kx < -kLongest || *a.constant_kx > kLongest || *a.constant_kx % bytes != 0)
    return std::nullopt;
  const std::int64_t apart = std::abs(*a.constant_kx), own = std::int64_t{bytes} * count;
  Rows r;
  r.step = static_cast<unsigned>(apart / bytes);
  r.elements = count;
  if (apart == 0) return r;
  if (apart < own || (apart != own && f_.layout.row_length < kShortestRow)) return std::nullopt;
  r.lanes = f_.layout.row_length;
  r.backwards = *a.constant_kx < 0;
  r.dense = apart == own;
  r.elements = (r.lanes - 1) * r.step + count;
  return r;
}

Value* DirectAccess::row_pointer(const Address& a, Value* pointer, const Rows& rows, unsigned r) {
  if (r > 0) pointer = ir_.CreateGEP(ir_.getInt8Ty(), pointer, ir_.CreateMul(a.ky, ir_.getInt64(r)));
  if (!rows.backwards) return pointer;
  return ir_.CreateGEP(ir_.getInt8Ty(), pointer, ir_.CreateMul(a.kx, ir_.getInt64(rows.lanes - 1)));
}

// Loads a row, and nothing after its last element, which may not be allocated memory. Uses a mask if the CPU has masks.
Value* DirectAccess::load_row(const Rows& rows, Value* at, llvm::Type* element) {
  const unsigned bytes = element->getPrimitiveSizeInBits() / 8;
  WG_ASSERT(rows.elements > 0);
  const unsigned whole = std::bit_ceil(rows.elements);
  if (rows.elements == whole || !f_.has_avx512())
    return ir_.CreateAlignedLoad(llvm::FixedVectorType::get(element, rows.elements), at, llvm::Align(bytes),
                                 is_volatile());
  llvm::SmallVector<llvm::Constant*, 256> own;
  for (unsigned k = 0; k < whole; ++k) own.push_back(ir_.getInt1(k < rows.elements));
  llvm::Type* type = llvm::FixedVectorType::get(element, whole);
  return ir_.CreateMaskedLoad(type, at, llvm::Align(bytes), llvm::ConstantVector::get(own),
                              llvm::PoisonValue::get(type));
}

std::vector<Value*> DirectAccess::load_rows(const Address& a, Value* pointer, const Rows& rows, StateSpace space,
                                            llvm::Type* element, unsigned count) {
  const unsigned length = f_.layout.row_length, bytes = element->getPrimitiveSizeInBits() / 8;
  std::vector<Value*> row_values;
  for (unsigned r = 0; r < f_.layout.rows(); ++r) {
    Value* at = row_pointer(a, pointer, rows, r);
    if (space == StateSpace::global && rows.dense) prefetch_behind(at, std::uint64_t{rows.elements} * bytes);
    row_values.push_back(load_row(rows, at, element));
  }
  std::vector<Value*> out(count, nullptr);
  for (unsigned e = 0; e < count; ++e) {
    Value* whole = nullptr;
    for (unsigned r = 0; r < row_values.size(); ++r) {
      llvm::SmallVector<int, kWarpSize> pick;  // element e of the row's lanes, widened to 32 lanes in place
      for (unsigned l = 0; l < kWarpSize; ++l)
        pick.push_back(l / length == r || f_.layout.one_row ? static_cast<int>(rows.first_of(l % length) + e)
                                                            : llvm::PoisonMaskElem);
      Value* part = ir_.CreateShuffleVector(row_values[r], pick);
      if (!whole) {
        whole = part;
        continue;
      }
      llvm::SmallVector<int, kWarpSize> merge;
      for (unsigned l = 0; l < kWarpSize; ++l) merge.push_back(static_cast<int>(l / length == r ? l + kWarpSize : l));
      whole = ir_.CreateShuffleVector(whole, part, merge);
    }
    out[e] = whole;
  }
  return out;
}

// Stores the lanes' elements in the order of memory. The bytes between them stay unchanged.
void DirectAccess::store_rows(const Address& a, Value* pointer, const Rows& rows, llvm::Type* element,
                              const std::vector<Value*>& values) {
  WG_ASSERT(rows.lanes == f_.layout.row_length);
  const auto count = static_cast<unsigned>(values.size());
  const llvm::Align align(element->getPrimitiveSizeInBits() / 8);
  const unsigned size = std::bit_ceil(rows.elements);
  Value* all = f_.concatenated(values);
  for (unsigned r = 0; r < f_.layout.rows(); ++r) {
    std::vector<int> order(size, llvm::PoisonMaskElem);
    llvm::SmallVector<llvm::Constant*, 256> own(size, ir_.getFalse());
    for (unsigned l = 0; l < rows.lanes; ++l)
      for (unsigned e = 0; e < count; ++e) {
        order[rows.first_of(l) + e] = static_cast<int>(e * kWarpSize + r * rows.lanes + l);
        own[rows.first_of(l) + e] = ir_.getTrue();
      }
    Value* row = ir_.CreateShuffleVector(all, order);
    Value* at = row_pointer(a, pointer, rows, r);
    if (rows.dense)
      ir_.CreateAlignedStore(row, at, align);
    else
      ir_.CreateMaskedStore(row, at, align, llvm::ConstantVector::get(own));
  }
}

Value* DirectAccess::local_memory() {
  Value* local = f_.context_field(offsetof(WarpContext, local), ir_.getPtrTy(), "local");
  if (!shadow_) return local;
  Value* distance = f_.context_field(offsetof(WarpContext, local_shadow), ir_.getInt64Ty(), "shadow");
  return ir_.CreateGEP(ir_.getInt8Ty(), local, distance);
}

std::vector<Value*> DirectAccess::load_local(Value* offset, llvm::Type* element, unsigned count) {
  llvm::Type* plane = llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize);
  const unsigned bits = element->getPrimitiveSizeInBits();
  Value* local = local_memory();
  const auto word = [&](Value* byte_offset) {
    Value* index = ir_.CreateShl(ir_.CreateLShr(byte_offset, 2), 7);
    return ir_.CreateGEP(ir_.getInt8Ty(), local, index);
  };
  const auto shaped = [&](llvm::Type* e) { return llvm::FixedVectorType::get(e, kWarpSize); };
  std::vector<Value*> out;
  for (unsigned e = 0; e < count; ++e) {
    Value* at = ir_.CreateAdd(offset, ir_.getInt64(e * bits / 8));
    Value* v = ir_.CreateAlignedLoad(plane, word(at), llvm::Align(64));
    if (bits > 32) {
      llvm::Type* wide = shaped(ir_.getIntNTy(bits));
      v = ir_.CreateZExt(v, wide);
      for (unsigned w = 1; w < bits / 32; ++w) {
        Value* more = ir_.CreateAlignedLoad(plane, word(ir_.CreateAdd(at, ir_.getInt64(4 * w))), llvm::Align(64));
        v = ir_.CreateOr(v, ir_.CreateShl(ir_.CreateZExt(more, wide), f_.splat(ir_.getIntN(bits, 32 * w))));
      }
    } else if (bits < 32) {
      Value* shift = ir_.CreateTrunc(ir_.CreateShl(ir_.CreateAnd(at, ir_.getInt64(3)), 3), ir_.getInt32Ty());
      v = ir_.CreateTrunc(ir_.CreateLShr(v, f_.splat(shift)), shaped(ir_.getIntNTy(bits)));
    }
    out.push_back(element->isIntegerTy() ? v : ir_.CreateBitCast(v, shaped(element)));
  }
  return out;
}

void DirectAccess::store_local(Value* offset, llvm::Type* element, const std::vector<Value*>& values, Value* lanes) {
  llvm::Type* plane = llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize);
  const unsigned bits = element->getPrimitiveSizeInBits();
  Value* local = local_memory();
  const auto word = [&](Value* byte_offset) {
    return ir_.CreateGEP(ir_.getInt8Ty(), local, ir_.CreateShl(ir_.CreateLShr(byte_offset, 2), 7));
  };
  const auto shaped = [&](llvm::Type* e) { return llvm::FixedVectorType::get(e, kWarpSize); };
  const auto put_row = [&](Value* row, Value* to) {
    if (lanes)
      store_masked(row, to, llvm::Align(64), lanes, true);
    else
      ir_.CreateAlignedStore(row, to, llvm::Align(64));
  };
  for (std::size_t e = 0; e < values.size(); ++e) {
    Value* at = ir_.CreateAdd(offset, ir_.getInt64(e * bits / 8));
    Value* v = values[e];
    if (!element->isIntegerTy()) v = ir_.CreateBitCast(v, shaped(ir_.getIntNTy(bits)));
    if (bits >= 32) {
      for (unsigned w = 0; w < bits / 32; ++w) {
        Value* part = w ? ir_.CreateLShr(v, f_.splat(ir_.getIntN(bits, 32 * w))) : v;
        Value* to = w ? word(ir_.CreateAdd(at, ir_.getInt64(4 * w))) : word(at);
        put_row(ir_.CreateTrunc(part, plane), to);
      }
    } else {
      Value* shift = f_.splat(ir_.CreateTrunc(ir_.CreateShl(ir_.CreateAnd(at, ir_.getInt64(3)), 3), ir_.getInt32Ty()));
      Value* ones = ir_.CreateShl(f_.splat(ir_.getInt32((1u << bits) - 1)), shift);
      Value* old = ir_.CreateAlignedLoad(plane, word(at), llvm::Align(64));
      Value* put = ir_.CreateShl(ir_.CreateZExt(v, plane), shift);
      put_row(ir_.CreateOr(ir_.CreateAnd(old, ir_.CreateNot(ones)), put), word(at));
    }
  }
}

// volatile, relaxed and acquire loads read memory each time. So do loads that bypass the first cache, because programs
// poll with them for stores of other threads.
bool DirectAccess::is_volatile() const {
  using M = ptx::Modifier;
  const ptx::Instruction& i = f_.instruction();
  return i.has(M::volatile_) || i.has(M::relaxed) || i.has(M::acquire) || i.has(M::release) || i.has(M::mmio) ||
         i.has(M::cg) || i.has(M::cv);
}

// Loads each lane's elements in one access, like a GPU: another block may be writing them
// (device/access/lane_vectors.cpp).
std::vector<Value*> DirectAccess::load_wholes(Value* pointers, llvm::Type* element, unsigned count) {
  llvm::Type* whole = llvm::FixedVectorType::get(element, count);
  std::vector<Value*> lanes;
  for (unsigned l = 0; l < kWarpSize; ++l)
    lanes.push_back(ir_.CreateAlignedLoad(whole, ir_.CreateExtractElement(pointers, l),
                                          llvm::Align(element->getPrimitiveSizeInBits() / 8), is_volatile()));
  Value* all = f_.concatenated(std::move(lanes));
  std::vector<Value*> out;
  for (unsigned e = 0; e < count; ++e) {
    std::vector<int> pick;
    for (unsigned l = 0; l < kWarpSize; ++l) pick.push_back(static_cast<int>(l * count + e));
    out.push_back(ir_.CreateShuffleVector(all, pick));
  }
  return out;
}

void DirectAccess::store_wholes(Value* pointers, llvm::Type* element, const std::vector<Value*>& values) {
  Value* all = f_.concatenated(values);
  for (unsigned l = 0; l < kWarpSize; ++l) {
    std::vector<int> mine;
    for (std::size_t e = 0; e < values.size(); ++e) mine.push_back(static_cast<int>(e * kWarpSize + l));
    ir_.CreateAlignedStore(ir_.CreateShuffleVector(all, mine), ir_.CreateExtractElement(pointers, l),
                           llvm::Align(element->getPrimitiveSizeInBits() / 8), is_volatile());
  }
}

std::vector<Value*> DirectAccess::load(const Address& a, StateSpace space, llvm::Type* element, unsigned count) {
  const unsigned bytes = element->getPrimitiveSizeInBits() / 8;
  std::vector<Value*> out;
  if (space == StateSpace::local) return load_local(a.base, element, count);
  Value* pointer = host_pointer(a.base, space);
  // Shared memory belongs to one block, whose warps take turns.
  const bool at_once = count > 1 && space != StateSpace::shared;
  if (a.kind == Address::Kind::uniform) {
    Value* whole = at_once && is_volatile() ? ir_.CreateAlignedLoad(llvm::FixedVectorType::get(element, count), pointer,
                                                                    llvm::Align(bytes), true)
                                            : nullptr;
    for (unsigned e = 0; e < count; ++e)
      out.push_back(whole
                        ? ir_.CreateExtractElement(whole, e)
                        : ir_.CreateAlignedLoad(element, f_.at(pointer, e * bytes), llvm::Align(bytes), is_volatile()));
    return out;
  }
  if (const auto rows = rows_of(a, bytes, count)) return load_rows(a, pointer, *rows, space, element, count);
  Value* pointers = lane_pointers(a, pointer);
  if (at_once) return load_wholes(pointers, element, count);
  for (unsigned e = 0; e < count; ++e) {
    Value* at = e == 0 ? pointers : ir_.CreateGEP(ir_.getInt8Ty(), pointers, f_.splat(ir_.getInt64(e * bytes)));
    out.push_back(ir_.CreateMaskedGather(llvm::FixedVectorType::get(element, kWarpSize), at, llvm::Align(bytes)));
  }
  return out;
}

void DirectAccess::store(const Address& a, StateSpace space, llvm::Type* element, const std::vector<Value*>& values) {
  const auto count = static_cast<unsigned>(values.size());
  const unsigned bytes = element->getPrimitiveSizeInBits() / 8;
  if (space == StateSpace::local) return store_local(a.base, element, values, nullptr);
  Value* pointer = host_pointer(a.base, space);
  if (a.kind == Address::Kind::uniform) {  // lanes write one place: the last lane wins, as in a serial order
    if (count > 1 && space != StateSpace::shared && is_volatile()) {
      std::vector<int> last;
      for (unsigned e = 0; e < count; ++e) last.push_back(static_cast<int>(e * kWarpSize + kWarpSize - 1));
      ir_.CreateAlignedStore(ir_.CreateShuffleVector(f_.concatenated(values), last), pointer, llvm::Align(bytes), true);
      return;
    }
    for (unsigned e = 0; e < count; ++e)
      ir_.CreateAlignedStore(ir_.CreateExtractElement(values[e], kWarpSize - 1), f_.at(pointer, e * bytes),
                             llvm::Align(bytes));
    return;
  }
  const auto rows = rows_of(a, bytes, count);
  if (rows && rows->step > 0 && (rows->dense || f_.has_avx512())) return store_rows(a, pointer, *rows, element, values);
  Value* pointers = lane_pointers(a, pointer);
  if (count > 1 && space != StateSpace::shared) return store_wholes(pointers, element, values);
  for (unsigned e = 0; e < count; ++e) {
    Value* at = e == 0 ? pointers : ir_.CreateGEP(ir_.getInt8Ty(), pointers, f_.splat(ir_.getInt64(e * bytes)));
    ir_.CreateMaskedScatter(values[e], at, llvm::Align(bytes));
  }
}

// alone: nothing else writes the elements of lanes that are off meanwhile. Masked stores of AVX2 are slow on AMD's
// CPUs: a third of the time of a reduction in shared memory.
void DirectAccess::store_masked(Value* value, Value* at, llvm::Align align, Value* on, bool alone) {
  if (alone && !f_.has_avx512())
    ir_.CreateAlignedStore(ir_.CreateSelect(on, value, ir_.CreateAlignedLoad(value->getType(), at, align)), at, align);
  else
    ir_.CreateMaskedStore(value, at, align, on);
}

void DirectAccess::store_some(const Address& a, StateSpace space, llvm::Type* element, Value* value) {
  if (space == StateSpace::local) return store_local(a.base, element, {value}, masks_.lanes());
  const llvm::Align align(element->getPrimitiveSizeInBits() / 8);
  Value* pointer = host_pointer(a.base, space);
  if (a.kind == Address::Kind::uniform) {  // the last lane wins, as in a serial order
    Value* zeros = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, masks_.bits(), ir_.getTrue());
    Value* last = ir_.CreateSub(ir_.getInt32(kWarpSize - 1), zeros);
    ir_.CreateAlignedStore(ir_.CreateExtractElement(value, last), pointer, align);
    return;
  }
  Value* lanes = masks_.lanes();
  for (unsigned r = 0; r < f_.layout.rows(); ++r) {
    std::vector<int> row;
    for (unsigned l = 0; l < f_.layout.row_length; ++l) row.push_back(static_cast<int>(r * f_.layout.row_length + l));
    Value* at = r == 0 ? pointer : ir_.CreateGEP(ir_.getInt8Ty(), pointer, ir_.CreateMul(a.ky, ir_.getInt64(r)));
    Value *own = ir_.CreateShuffleVector(value, row), *on = ir_.CreateShuffleVector(lanes, row);
    store_masked(own, at, align, on, space == StateSpace::shared);
  }
}

}  // namespace warpgrind::jit
