// FunctionLowering: ld and st. The common access (all 32 lanes on, address uniform or affine) is checked, counted and
// done in place through the site's inline cache (SiteState in abi.h); everything else is one call of the runtime.
#include <llvm/IR/Constants.h>

#include <bit>

#include "jit/kernel/function_lowering.h"

namespace warpgrind::jit {

using flow::FormKind;
using llvm::BasicBlock;
using llvm::Value;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

namespace {

bool offsets_are_32_bit(StateSpace space) {
  return space == StateSpace::shared || space == StateSpace::local;
}

}  // namespace

// No lane of b + kx*X + ky*Y leaves the 32-bit range that the extension assumes; null: known at compile time.
Value* FunctionLowering::no_wrap(const Affine& a) {
  const std::int64_t x = row_length_ - 1, y = 32 / row_length_ - 1;
  auto* ckx = llvm::dyn_cast<llvm::ConstantInt>(a.kx);
  auto* cky = llvm::dyn_cast<llvm::ConstantInt>(a.ky);
  if (ckx && cky && ckx->isZero() && (cky->isZero() || y == 0)) return nullptr;
  llvm::Type* i64 = ir_.getInt64Ty();
  Value* b = a.is_signed ? ir_.CreateSExt(a.b, i64) : ir_.CreateZExt(a.b, i64);
  Value* zero = ir_.getInt64(0);
  Value* low = b;
  Value* high = b;
  const auto add_term = [&](Value* k, std::int64_t extent) {
    if (extent == 0) return;
    Value* span = ir_.CreateMul(ir_.CreateSExt(k, i64), ir_.getInt64(static_cast<std::uint64_t>(extent)));
    low = ir_.CreateAdd(low, ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, span, zero));
    high = ir_.CreateAdd(high, ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, span, zero));
  };
  add_term(a.kx, x);
  add_term(a.ky, y);
  const std::int64_t minimum = a.is_signed ? INT32_MIN : 0, maximum = a.is_signed ? INT32_MAX : UINT32_MAX;
  return ir_.CreateAnd(ir_.CreateICmpSGE(low, ir_.getInt64(static_cast<std::uint64_t>(minimum))),
                       ir_.CreateICmpSLE(high, ir_.getInt64(static_cast<std::uint64_t>(maximum))));
}

FunctionLowering::Address FunctionLowering::address_of(const Operand& o, StateSpace space) {
  Address out;
  out.operand = &o;
  const auto offset = ir_.getInt64(static_cast<std::uint64_t>(o.offset));
  llvm::Type* i64 = ir_.getInt64Ty();
  const bool short_space = offsets_are_32_bit(space);
  const auto in_space = [&](Value* v) { return short_space ? ir_.CreateAnd(v, ir_.getInt64(0xffffffffu)) : v; };
  if (o.base == OperandKind::none) {
    out.base = offset;
    return out;
  }
  if (o.base == OperandKind::variable) {
    out.base = variable_address(o);
    return out;
  }
  const flow::Form f = form(o.index);
  if (f.kind == FormKind::uniform) {
    Value* v = ir_.CreateLoad(slot_type(function_.registers[o.index].type), slots_[o.index].scalar);
    out.base = in_space(ir_.CreateAdd(ir_.CreateZExtOrTrunc(v, i64), offset));
    return out;
  }
  if (f.kind == FormKind::varying) {
    out.kind = Address::Kind::varying;
    return out;
  }
  out.kind = Address::Kind::affine;
  Operand reg;
  reg.kind = OperandKind::reg;
  reg.index = o.index;
  const Affine a = read_affine(reg, f.kind == FormKind::wide ? 64 : 32);
  Value* b = nullptr;
  if (a.wide) {
    b = a.is_signed ? ir_.CreateSExt(a.b, i64) : ir_.CreateZExt(a.b, i64);
    if (a.scale != 1) b = ir_.CreateMul(b, ir_.getInt64(static_cast<std::uint64_t>(a.scale)));
    b = ir_.CreateAdd(b, a.base);
    out.exact = no_wrap(a);
  } else {
    b = ir_.CreateZExt(a.b, i64);  // shared and local offsets wrap at 2^32, and so does the runtime
  }
  out.base = in_space(ir_.CreateAdd(b, offset));
  const auto coefficient = [&](Value* k, const std::optional<std::int64_t>& known,
                               std::optional<std::int64_t>& constant) -> Value* {
    if (known) {
      constant = static_cast<std::int32_t>(*known) * a.scale;
      return ir_.getInt64(static_cast<std::uint64_t>(*constant));
    }
    Value* v = ir_.CreateSExt(k, i64);
    return a.scale == 1 ? v : ir_.CreateMul(v, ir_.getInt64(static_cast<std::uint64_t>(a.scale)));
  };
  out.kx = coefficient(a.kx, f.kx, out.constant_kx);
  out.ky = coefficient(a.ky, f.ky, out.constant_ky);
  if (row_length_ == 32) {
    out.constant_ky = 0;
    out.ky = ir_.getInt64(0);
  }
  if (row_length_ == 1) {
    out.constant_kx = 0;
    out.kx = ir_.getInt64(0);
  }
  if (out.constant_kx == 0 && out.constant_ky == 0) out.kind = Address::Kind::uniform;
  return out;
}

Value* FunctionLowering::address_vector(Address& a) {
  if (a.vector) return a.vector;
  Operand o = *a.operand;
  a.vector = a.kind == Address::Kind::uniform ? splat(a.base) : read_vector(o, ScalarType::b64);
  return a.vector;
}

Value* FunctionLowering::site_state(std::uint32_t site) {
  Value* sites = context_field(offsetof(WarpContext, sites), ir_.getPtrTy(), "sites");
  return ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), sites, std::uint64_t{site} * sizeof(SiteState));
}

Value* FunctionLowering::fast_condition(const Address& a, Value* state, unsigned alignment) {
  llvm::Type* i64 = ir_.getInt64Ty();
  const auto field = [&](std::size_t offset) {
    return ir_.CreateLoad(i64, ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), state, offset));
  };
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

// Two branches, each on a condition of its own: one that is used twice would be computed as a value, which costs a
// tight loop a third of its speed.
void FunctionLowering::branch_on_condition(const Address& a, Value* state, unsigned alignment, const Ways& ways,
                                           llvm::MDNode* weights) {
  Value* all_on = ir_.CreateICmpEQ(mask_bits(), ir_.getInt32(kFullMask));
  if (ways.masked == ways.slow) {
    ir_.CreateCondBr(ir_.CreateAnd(fast_condition(a, state, alignment), all_on), ways.fast, ways.slow, weights);
    return;
  }
  BasicBlock* good = BasicBlock::Create(context(), "good", llvm_function_);
  ir_.CreateCondBr(fast_condition(a, state, alignment), good, ways.slow, weights);
  ir_.SetInsertPoint(good);
  ir_.CreateCondBr(all_on, ways.fast, ways.masked, weights);
}

void FunctionLowering::count_fast(const Address& a, Value* state) {
  if (!unit_.options.counters) return;
  Value* bin = ir_.CreateAnd(a.base, ir_.getInt64(255));
  Value* histogram = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), state, offsetof(SiteState, histogram));
  bump(ir_.CreateInBoundsGEP(ir_.getInt64Ty(), histogram, bin), ir_.getInt64(1));
}

Value* FunctionLowering::host_pointer(Value* address, StateSpace space) {
  if (space == StateSpace::shared)
    return ir_.CreateGEP(ir_.getInt8Ty(), context_field(offsetof(WarpContext, shared), ir_.getPtrTy(), "shared"),
                         address);
  return ir_.CreateIntToPtr(address, ir_.getPtrTy());
}

Value* FunctionLowering::scratch_area() {
  return ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), context_argument_, offsetof(WarpContext, scratch));
}

Value* FunctionLowering::address_area() {
  if (!address_area_)
    address_area_ = entry_alloca(llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize), "addresses", 64);
  return address_area_;
}

bool FunctionLowering::fast_path_possible(const Address& a, StateSpace space, unsigned bytes) const {
  if (unit_.options.every_access || a.kind == Address::Kind::varying) return false;
  if (space == StateSpace::generic || space == StateSpace::none || space == StateSpace::param) return false;
  if (space == StateSpace::local) return a.kind == Address::Kind::uniform;
  return bytes <= 32;
}

// ---- Data movement of the fast path

Value* FunctionLowering::lane_pointers(const Address& a, Value* pointer) {
  llvm::Type* i64 = ir_.getInt64Ty();
  Value* offsets = llvm::Constant::getNullValue(llvm::FixedVectorType::get(i64, kWarpSize));
  const auto add = [&](Value* k, bool y) {
    if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(k); c && c->isZero()) return;
    offsets = ir_.CreateAdd(offsets, ir_.CreateMul(splat(k), lane_pattern(y, 64)));
  };
  add(a.kx, false);
  add(a.ky, true);
  return ir_.CreateGEP(ir_.getInt8Ty(), pointer, offsets);
}

// Rows of `row_length_` lanes that are contiguous (kx == bytes a lane) or all at one address (kx == 0).
std::vector<Value*> FunctionLowering::load_rows(const Address& a, Value* pointer, llvm::Type* element, unsigned count) {
  const unsigned rows = kWarpSize / row_length_, bytes = element->getPrimitiveSizeInBits() / 8;
  const bool broadcast = *a.constant_kx == 0;
  std::vector<Value*> out(count, nullptr);
  const unsigned lanes = broadcast ? 1 : row_length_;
  llvm::Type* row_type = llvm::FixedVectorType::get(element, lanes * count);
  std::vector<Value*> row_values;
  for (unsigned r = 0; r < rows; ++r) {
    Value* at = r == 0 ? pointer : ir_.CreateGEP(ir_.getInt8Ty(), pointer, ir_.CreateMul(a.ky, ir_.getInt64(r)));
    row_values.push_back(ir_.CreateAlignedLoad(row_type, at, llvm::Align(bytes), is_volatile()));
  }
  for (unsigned e = 0; e < count; ++e) {
    Value* whole = nullptr;
    for (unsigned r = 0; r < rows; ++r) {
      llvm::SmallVector<int, kWarpSize> pick;  // element e of the row's lanes, widened to 32 lanes in place
      for (unsigned l = 0; l < kWarpSize; ++l) {
        const unsigned lane = l % row_length_;
        pick.push_back(l / row_length_ == r ? static_cast<int>((broadcast ? 0 : lane) * count + e)
                                            : llvm::PoisonMaskElem);
      }
      Value* part = ir_.CreateShuffleVector(row_values[r], pick);
      if (!whole) {
        whole = part;
        continue;
      }
      llvm::SmallVector<int, kWarpSize> merge;
      for (unsigned l = 0; l < kWarpSize; ++l)
        merge.push_back(static_cast<int>(l / row_length_ == r ? l + kWarpSize : l));
      whole = ir_.CreateShuffleVector(whole, part, merge);
    }
    out[e] = whole;
  }
  return out;
}

// The elements of row r's lanes in memory order: lane 0's elements, lane 1's, ...
Value* FunctionLowering::interleave_row(const std::vector<Value*>& values, unsigned r) {
  std::vector<Value*> parts = values;
  while (parts.size() > 1) {  // concatenate pairs; counts are powers of two
    const unsigned n = llvm::cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements();
    std::vector<int> both(2 * n);
    for (unsigned k = 0; k < 2 * n; ++k) both[k] = static_cast<int>(k);
    std::vector<Value*> next;
    for (std::size_t p = 0; p < parts.size(); p += 2)
      next.push_back(ir_.CreateShuffleVector(parts[p], parts[p + 1], both));
    parts = std::move(next);
  }
  std::vector<int> order;
  for (unsigned l = 0; l < row_length_; ++l)
    for (unsigned e = 0; e < values.size(); ++e) order.push_back(static_cast<int>(e * kWarpSize + r * row_length_ + l));
  return ir_.CreateShuffleVector(parts[0], order);
}

std::vector<Value*> FunctionLowering::load_local(Value* offset, llvm::Type* element, unsigned count) {
  llvm::Type* plane = llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize);
  llvm::Type* i64 = ir_.getInt64Ty();
  const unsigned bits = element->getPrimitiveSizeInBits();
  Value* local = context_field(offsetof(WarpContext, local), ir_.getPtrTy(), "local");
  const auto word = [&](Value* byte_offset) {
    Value* index = ir_.CreateShl(ir_.CreateLShr(byte_offset, 2), 7);
    return ir_.CreateGEP(ir_.getInt8Ty(), local, index);
  };
  const auto shaped = [&](llvm::Type* e) { return llvm::FixedVectorType::get(e, kWarpSize); };
  std::vector<Value*> out;
  for (unsigned e = 0; e < count; ++e) {
    Value* at = ir_.CreateAdd(offset, ir_.getInt64(e * bits / 8));
    Value* v = ir_.CreateAlignedLoad(plane, word(at), llvm::Align(64));
    if (bits == 64) {
      Value* high = ir_.CreateAlignedLoad(plane, word(ir_.CreateAdd(at, ir_.getInt64(4))), llvm::Align(64));
      v = ir_.CreateOr(ir_.CreateZExt(v, shaped(i64)),
                       ir_.CreateShl(ir_.CreateZExt(high, shaped(i64)), splat(ir_.getInt64(32))));
    } else if (bits < 32) {
      Value* shift = ir_.CreateTrunc(ir_.CreateShl(ir_.CreateAnd(at, ir_.getInt64(3)), 3), ir_.getInt32Ty());
      v = ir_.CreateTrunc(ir_.CreateLShr(v, splat(shift)), shaped(ir_.getIntNTy(bits)));
    }
    out.push_back(element->isIntegerTy() ? v : ir_.CreateBitCast(v, shaped(element)));
  }
  return out;
}

void FunctionLowering::store_local(Value* offset, llvm::Type* element, const std::vector<Value*>& values) {
  llvm::Type* plane = llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize);
  llvm::Type* i64 = ir_.getInt64Ty();
  const unsigned bits = element->getPrimitiveSizeInBits();
  Value* local = context_field(offsetof(WarpContext, local), ir_.getPtrTy(), "local");
  const auto word = [&](Value* byte_offset) {
    return ir_.CreateGEP(ir_.getInt8Ty(), local, ir_.CreateShl(ir_.CreateLShr(byte_offset, 2), 7));
  };
  const auto shaped = [&](llvm::Type* e) { return llvm::FixedVectorType::get(e, kWarpSize); };
  for (std::size_t e = 0; e < values.size(); ++e) {
    Value* at = ir_.CreateAdd(offset, ir_.getInt64(e * bits / 8));
    Value* v = values[e];
    if (!element->isIntegerTy()) v = ir_.CreateBitCast(v, shaped(ir_.getIntNTy(bits)));
    if (bits == 64) {
      ir_.CreateAlignedStore(ir_.CreateTrunc(v, plane), word(at), llvm::Align(64));
      ir_.CreateAlignedStore(ir_.CreateTrunc(ir_.CreateLShr(v, splat(ir_.getInt64(32))), plane),
                             word(ir_.CreateAdd(at, ir_.getInt64(4))), llvm::Align(64));
    } else if (bits == 32) {
      ir_.CreateAlignedStore(v, word(at), llvm::Align(64));
    } else {
      Value* shift = splat(ir_.CreateTrunc(ir_.CreateShl(ir_.CreateAnd(at, ir_.getInt64(3)), 3), ir_.getInt32Ty()));
      Value* ones = ir_.CreateShl(splat(ir_.getInt32((1u << bits) - 1)), shift);
      Value* old = ir_.CreateAlignedLoad(plane, word(at), llvm::Align(64));
      Value* put = ir_.CreateShl(ir_.CreateZExt(v, plane), shift);
      ir_.CreateAlignedStore(ir_.CreateOr(ir_.CreateAnd(old, ir_.CreateNot(ones)), put), word(at), llvm::Align(64));
    }
  }
  (void)i64;
}

// volatile, relaxed and acquire loads are made anew each time.
bool FunctionLowering::is_volatile() const {
  using M = ptx::Modifier;
  const ptx::Instruction& i = *instruction_;
  return i.has(M::volatile_) || i.has(M::relaxed) || i.has(M::acquire) || i.has(M::release) || i.has(M::mmio);
}

std::vector<Value*> FunctionLowering::fast_load(const Address& a, StateSpace space, llvm::Type* element,
                                                unsigned count) {
  const unsigned bytes = element->getPrimitiveSizeInBits() / 8;
  std::vector<Value*> out;
  if (space == StateSpace::local) return load_local(a.base, element, count);
  Value* pointer = host_pointer(a.base, space);
  if (a.kind == Address::Kind::uniform) {
    for (unsigned e = 0; e < count; ++e)
      out.push_back(ir_.CreateAlignedLoad(element, ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), pointer, e * bytes),
                                          llvm::Align(bytes), is_volatile()));
    return out;
  }
  if (a.constant_kx && (*a.constant_kx == 0 || *a.constant_kx == std::int64_t{bytes} * count))
    return load_rows(a, pointer, element, count);
  Value* pointers = lane_pointers(a, pointer);
  for (unsigned e = 0; e < count; ++e) {
    Value* at = e == 0 ? pointers : ir_.CreateGEP(ir_.getInt8Ty(), pointers, splat(ir_.getInt64(e * bytes)));
    out.push_back(ir_.CreateMaskedGather(llvm::FixedVectorType::get(element, kWarpSize), at, llvm::Align(bytes)));
  }
  return out;
}

void FunctionLowering::fast_store(const Address& a, StateSpace space, llvm::Type* element,
                                  const std::vector<Value*>& values) {
  const auto count = static_cast<unsigned>(values.size());
  const unsigned bytes = element->getPrimitiveSizeInBits() / 8;
  if (space == StateSpace::local) return store_local(a.base, element, values);
  Value* pointer = host_pointer(a.base, space);
  if (a.kind == Address::Kind::uniform) {  // lanes write one place: the last lane wins, as in a serial order
    for (unsigned e = 0; e < count; ++e)
      ir_.CreateAlignedStore(ir_.CreateExtractElement(values[e], kWarpSize - 1),
                             ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), pointer, e * bytes), llvm::Align(bytes));
    return;
  }
  if (a.constant_kx && *a.constant_kx == std::int64_t{bytes} * count) {
    const auto row_address = [&](unsigned r) {
      return r == 0 ? pointer : ir_.CreateGEP(ir_.getInt8Ty(), pointer, ir_.CreateMul(a.ky, ir_.getInt64(r)));
    };
    for (unsigned r = 0; r < kWarpSize / row_length_; ++r) {
      ir_.CreateAlignedStore(interleave_row(values, r), row_address(r), llvm::Align(bytes));
    }
    return;
  }
  Value* pointers = lane_pointers(a, pointer);
  for (unsigned e = 0; e < count; ++e) {
    Value* at = e == 0 ? pointers : ir_.CreateGEP(ir_.getInt8Ty(), pointers, splat(ir_.getInt64(e * bytes)));
    ir_.CreateMaskedScatter(values[e], at, llvm::Align(bytes));
  }
}

// ---- Runtime calls

std::vector<Value*> FunctionLowering::slow_load(Address& a, llvm::Type* element, unsigned count) {
  Value* out = scratch_area();
  Value* site = site_number();
  Value* mask = mask_bits();
  const unsigned bytes = element->getPrimitiveSizeInBits() / 8;
  std::vector<Value*> values;
  const bool uniform_result = scalar_;
  if (a.kind == Address::Kind::uniform && uniform_result) {
    call("wg_load_uniform", ir_.getVoidTy(), {context_argument_, site, a.base, mask, out});
    for (unsigned e = 0; e < count; ++e)
      values.push_back(ir_.CreateAlignedLoad(element, ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), out, e * bytes),
                                             llvm::Align(bytes)));
    return values;
  }
  const auto by_vector = [&] {
    ir_.CreateAlignedStore(address_vector(a), address_area(), llvm::Align(64));
    call("wg_load", ir_.getVoidTy(), {context_argument_, site, address_area(), mask, out});
  };
  const auto by_affine = [&] {
    Value* zero = ir_.getInt64(0);
    const bool uniform = a.kind == Address::Kind::uniform;
    call("wg_load_affine", ir_.getVoidTy(),
         {context_argument_, site, a.base, uniform ? zero : a.kx, uniform ? zero : a.ky, mask, out});
  };
  if (a.kind == Address::Kind::varying) {
    by_vector();
  } else if (!a.exact) {
    by_affine();
  } else {
    BasicBlock* affine = BasicBlock::Create(context(), "affine", llvm_function_);
    BasicBlock* wrapped = BasicBlock::Create(context(), "wrapped", llvm_function_);
    BasicBlock* join = BasicBlock::Create(context(), "joined", llvm_function_);
    ir_.CreateCondBr(a.exact, affine, wrapped);
    ir_.SetInsertPoint(affine);
    by_affine();
    ir_.CreateBr(join);
    ir_.SetInsertPoint(wrapped);
    by_vector();
    a.vector = nullptr;
    ir_.CreateBr(join);
    ir_.SetInsertPoint(join);
  }
  for (unsigned e = 0; e < count; ++e)
    values.push_back(ir_.CreateAlignedLoad(
        llvm::FixedVectorType::get(element, kWarpSize),
        ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), out, std::uint64_t{e} * bytes * kWarpSize),
        llvm::Align(bytes)));
  return values;
}

void FunctionLowering::slow_store(Address& a, llvm::Type* element, const std::vector<Value*>& values) {
  const unsigned bytes = element->getPrimitiveSizeInBits() / 8;
  Value* in = scratch_area();
  for (std::size_t e = 0; e < values.size(); ++e)
    ir_.CreateAlignedStore(values[e],
                           ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), in, std::uint64_t{e} * bytes * kWarpSize),
                           llvm::Align(bytes));
  Value* site = site_number();
  Value* mask = mask_bits();
  const auto by_vector = [&] {
    ir_.CreateAlignedStore(address_vector(a), address_area(), llvm::Align(64));
    call("wg_store", ir_.getVoidTy(), {context_argument_, site, address_area(), mask, in});
  };
  const auto by_affine = [&] {
    Value* zero = ir_.getInt64(0);
    const bool uniform = a.kind == Address::Kind::uniform;
    call("wg_store_affine", ir_.getVoidTy(),
         {context_argument_, site, a.base, uniform ? zero : a.kx, uniform ? zero : a.ky, mask, in});
  };
  if (a.kind == Address::Kind::varying) return by_vector();
  if (!a.exact) return by_affine();
  BasicBlock* affine = BasicBlock::Create(context(), "affine", llvm_function_);
  BasicBlock* wrapped = BasicBlock::Create(context(), "wrapped", llvm_function_);
  BasicBlock* join = BasicBlock::Create(context(), "joined", llvm_function_);
  ir_.CreateCondBr(a.exact, affine, wrapped);
  ir_.SetInsertPoint(affine);
  by_affine();
  ir_.CreateBr(join);
  ir_.SetInsertPoint(wrapped);
  by_vector();
  a.vector = nullptr;
  ir_.CreateBr(join);
  ir_.SetInsertPoint(join);
}

// ---- The instructions

void FunctionLowering::lower_load() {
  const ptx::Instruction& i = *instruction_;
  if (i.space == StateSpace::param && i.operands[1].base == OperandKind::variable &&
      i.operands[1].scope == ptx::Scope::function)
    return lower_param_load();
  const ScalarType type = i.type();
  const unsigned count = i.vector;
  llvm::Type* e = element(type);
  const unsigned bytes = e->getPrimitiveSizeInBits() / 8 * count;
  Address a = address_of(i.operands[1], i.space);
  // One value for the warp: the address is uniform and memory is not private to a lane.
  scalar_ = flow::result_form(i, 0, analysis_.forms, layout_, function_).kind == FormKind::uniform &&
            a.kind == Address::Kind::uniform;
  const auto deliver = [&](const std::vector<Value*>& values) {
    const Operand& d = i.operands[0];
    if (d.kind == OperandKind::vector)
      for (unsigned k = 0; k < count; ++k) write(d.elements[k], values[k], type);
    else
      write(d, values[0], type);
  };
  if (!fast_path_possible(a, i.space, bytes)) return deliver(slow_load(a, e, count));
  Value* state = site_state(llvm::cast<llvm::ConstantInt>(site_number())->getZExtValue());
  BasicBlock* fast = BasicBlock::Create(context(), "fast", llvm_function_);
  BasicBlock* slow = BasicBlock::Create(context(), "slow", llvm_function_);
  BasicBlock* join = BasicBlock::Create(context(), "loaded", llvm_function_);
  llvm::MDNode* likely = llvm::MDNode::get(
      context(), {llvm::MDString::get(context(), "branch_weights"), llvm::ConstantAsMetadata::get(ir_.getInt32(1000)),
                  llvm::ConstantAsMetadata::get(ir_.getInt32(1))});
  const bool masked_path = masked_path_possible(a, i.space, bytes / count, count, /*store=*/false);
  BasicBlock* masked = masked_path ? BasicBlock::Create(context(), "masked", llvm_function_) : slow;
  branch_on_condition(a, state, bytes, {fast, masked, slow}, likely);
  std::vector<std::pair<BasicBlock*, std::vector<Value*>>> ways;
  const auto arrive_with = [&](std::vector<Value*> loaded) {
    if (!scalar_)
      for (Value*& v : loaded) v = splat(v);
    ways.emplace_back(ir_.GetInsertBlock(), std::move(loaded));
    ir_.CreateBr(join);
  };
  ir_.SetInsertPoint(fast);
  count_fast(a, state);
  arrive_with(fast_load(a, i.space, e, count));
  if (masked_path) {
    ir_.SetInsertPoint(masked);
    count_masked(a, state);
    arrive_with(fast_load(a, i.space, e, count));  // lanes off read good memory; nobody sees it
  }
  ir_.SetInsertPoint(slow);
  arrive_with(slow_load(a, e, count));
  ir_.SetInsertPoint(join);
  std::vector<Value*> values;
  for (unsigned k = 0; k < count; ++k) {
    llvm::PHINode* phi = ir_.CreatePHI(ways[0].second[k]->getType(), static_cast<unsigned>(ways.size()));
    for (const auto& [from, loaded] : ways) phi->addIncoming(loaded[k], from);
    values.push_back(phi);
  }
  deliver(values);
}

void FunctionLowering::lower_store() {
  const ptx::Instruction& i = *instruction_;
  if (i.space == StateSpace::param) return lower_param_store();
  const ScalarType type = i.type();
  const unsigned count = i.vector;
  llvm::Type* e = element(type);
  const unsigned bytes = e->getPrimitiveSizeInBits() / 8 * count;
  Address a = address_of(i.operands[0], i.space);
  std::vector<Value*> values;
  const Operand& s = i.operands[1];
  for (unsigned k = 0; k < count; ++k)
    values.push_back(read_vector(s.kind == OperandKind::vector ? s.elements[k] : s, type));
  if (!fast_path_possible(a, i.space, bytes)) return slow_store(a, e, values);
  Value* state = site_state(llvm::cast<llvm::ConstantInt>(site_number())->getZExtValue());
  BasicBlock* fast = BasicBlock::Create(context(), "fast", llvm_function_);
  BasicBlock* slow = BasicBlock::Create(context(), "slow", llvm_function_);
  BasicBlock* join = BasicBlock::Create(context(), "stored", llvm_function_);
  const bool masked_path = masked_path_possible(a, i.space, bytes / count, count, /*store=*/true);
  BasicBlock* masked = masked_path ? BasicBlock::Create(context(), "masked", llvm_function_) : slow;
  branch_on_condition(a, state, bytes, {fast, masked, slow}, nullptr);
  ir_.SetInsertPoint(fast);
  count_fast(a, state);
  fast_store(a, i.space, e, values);
  ir_.CreateBr(join);
  if (masked_path) {
    BasicBlock* some = BasicBlock::Create(context(), "some_lanes", llvm_function_);
    ir_.SetInsertPoint(masked);
    ir_.CreateCondBr(ir_.CreateICmpNE(mask_bits(), ir_.getInt32(0)), some, slow);
    ir_.SetInsertPoint(some);
    count_masked(a, state);
    masked_store(a, i.space, e, values[0]);
    ir_.CreateBr(join);
  }
  ir_.SetInsertPoint(slow);
  slow_store(a, e, values);
  ir_.CreateBr(join);
  ir_.SetInsertPoint(join);
}

}  // namespace warpgrind::jit
