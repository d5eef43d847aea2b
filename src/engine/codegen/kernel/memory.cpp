// Lowering of ld and st: chooses the inline cache, the lane window or the device, and joins the results.
#include "codegen/kernel/memory.h"

#include <llvm/IR/Constants.h>

#include <algorithm>

#include "base/assert.h"

namespace warpgrind::jit {

using flow::FormKind;
using llvm::BasicBlock;
using llvm::Value;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

Value* Memory::scratch_area() {
  return f_.at(f_.context_argument, offsetof(WarpContext, scratch));
}

// Address of element e of all lanes in the scratch area.
Value* Memory::plane(Value* area, std::size_t e, unsigned bytes) {
  return f_.at(area, std::uint64_t{e} * bytes * kWarpSize);
}

void Memory::call_device(Address& a, const DeviceCall& device, Value* area) {
  Value* site = sites_.number();
  Value* mask = masks_.bits();
  const auto by_vector = [&] {
    ir_.CreateAlignedStore(addresses_.lanes(a), addresses_.area(), llvm::Align(64));
    f_.call(device.by_vector, ir_.getVoidTy(), {f_.context_argument, site, addresses_.area(), mask, area});
  };
  const auto by_affine = [&] {
    Value* zero = ir_.getInt64(0);
    const bool uniform = a.kind == Address::Kind::uniform;
    f_.call(device.by_affine, ir_.getVoidTy(),
            {f_.context_argument, site, a.base, uniform ? zero : a.kx, uniform ? zero : a.ky, mask, area});
  };
  if (a.kind == Address::Kind::varying) return by_vector();
  if (!a.exact) return by_affine();
  BasicBlock* affine = f_.new_block("affine");
  BasicBlock* wrapped = f_.new_block("wrapped");
  BasicBlock* join = f_.new_block("joined");
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

std::vector<Value*> Memory::careful_load(Address& a, llvm::Type* element, unsigned count, const DeviceLoad& device) {
  Value* out = scratch_area();
  const unsigned bytes = element->getPrimitiveSizeInBits() / 8;
  std::vector<Value*> values;
  if (a.kind == Address::Kind::uniform && f_.now.scalar) {
    Value* site = sites_.number();
    Value* mask = masks_.bits();
    f_.call(device.uniform, ir_.getVoidTy(), {f_.context_argument, site, a.base, mask, out});
    cache_.read_sites_again();
    for (unsigned e = 0; e < count; ++e)
      values.push_back(ir_.CreateAlignedLoad(element, f_.at(out, e * bytes), llvm::Align(bytes)));
    return values;
  }
  call_device(a, {device.by_vector, device.by_affine}, out);
  cache_.read_sites_again();
  llvm::Type* lanes = llvm::FixedVectorType::get(element, kWarpSize);
  for (unsigned e = 0; e < count; ++e)
    values.push_back(ir_.CreateAlignedLoad(lanes, plane(out, e, bytes), llvm::Align(bytes)));
  return values;
}

void Memory::careful_store(Address& a, llvm::Type* element, const std::vector<Value*>& values) {
  const unsigned bytes = element->getPrimitiveSizeInBits() / 8;
  Value* in = scratch_area();
  for (std::size_t e = 0; e < values.size(); ++e)
    ir_.CreateAlignedStore(values[e], plane(in, e, bytes), llvm::Align(bytes));
  call_device(a, {"wg_store", "wg_store_affine"}, in);
  cache_.read_sites_again();
}

// Emits move() for each pattern of lane addresses: the expected step, another constant step, or irregular (nullptr).
// distances: of LaneAccess::begin().
// Each path continues at the code that is inserted next.
void Memory::move_lanes(Address& a, StateSpace space, llvm::Type* element, unsigned count,
                        const std::function<void(const Address* regular, Value* distances)>& move,
                        const std::function<void()>& carefully) {
  const unsigned bytes = element->getPrimitiveSizeInBits() / 8, whole = bytes * count;
  const bool gathers = LaneAccess::gathers(count);
  BasicBlock* slow = f_.new_block("slow");
  BasicBlock* join = f_.new_block("joined");
  Value* addresses = addresses_.lanes(a);
  Value* state = cache_.state();
  Value* distances = lanes_.begin(addresses, state, whole, space, slow);
  BasicBlock* anywhere = gathers ? f_.new_block("anywhere") : slow;
  if (space != StateSpace::local) {               // in local memory, lanes are never contiguous
    const bool in_steps = gathers || count == 1;  // vectors would need 32 moves and shuffles
    const std::int64_t step = lanes_.expected_step(a, whole);
    BasicBlock* as_expected = f_.new_block("as_expected");
    BasicBlock* strided = in_steps ? f_.new_block("strided") : slow;
    BasicBlock* irregular = gathers ? f_.new_block("irregular") : slow;
    lanes_.branch(addresses, state, step, {as_expected, strided, irregular});
    ir_.SetInsertPoint(as_expected);
    lanes_.count_regular(addresses, state);
    const Address expected = lanes_.expected(addresses, step);
    move(&expected, distances);
    ir_.CreateBr(join);
    if (in_steps) {
      ir_.SetInsertPoint(strided);
      lanes_.count_regular(addresses, state);
      if (!gathers) {
        const Address apart = lanes_.strided(addresses, state);
        move(&apart, distances);
      }
      ir_.CreateBr(gathers ? anywhere : join);
    }
    if (gathers) ir_.SetInsertPoint(irregular);
  }
  if (gathers) {
    lanes_.keep(distances, state);
    ir_.CreateBr(anywhere);
    ir_.SetInsertPoint(anywhere);
    WG_ASSERT(count == 1);
    move(nullptr, distances);
    ir_.CreateBr(join);
  }
  ir_.SetInsertPoint(slow);
  carefully();
  ir_.CreateBr(join);
  ir_.SetInsertPoint(join);
}

// Emits move() for accesses of some lanes, in front of the device's call. Returns false if the device serves all.
bool Memory::access_apart(Address& a, StateSpace space, unsigned bytes, unsigned count, bool store,
                          const std::function<void()>& move) {
  if (!lanes_.serves_apart(a, space, bytes, count)) return false;
  // The inline cache serves the others, except at the end of an allocation.
  if (space != StateSpace::shared && cache_.serves_some(a, space, bytes, count, store)) return false;
  BasicBlock* slower = f_.new_block("slower");
  Value* state = cache_.state();
  Value* distances = lanes_.begin_apart(addresses_.lanes(a), state, bytes, space, slower);
  lanes_.keep(distances, state);
  move();
  ir_.SetInsertPoint(slower);
  return true;
}

std::vector<Value*> Memory::load_lanes(Address& a, StateSpace space, llvm::Type* element, unsigned count) {
  std::vector<std::pair<BasicBlock*, std::vector<Value*>>> ways;
  const auto arrive = [&](std::vector<Value*> values) { ways.emplace_back(ir_.GetInsertBlock(), std::move(values)); };
  move_lanes(
      a, space, element, count,
      [&](const Address* regular, Value* distances) {
        arrive(regular ? direct_.load(*regular, space, element, count)
                       : std::vector<Value*>{
                             lanes_.load_irregular(addresses_.lanes(a), distances, cache_.state(), space, element)});
      },
      [&] { arrive(careful_load(a, element, count, kLoad)); });
  WG_ASSERT(!ways.empty());
  for (const auto& way : ways) WG_ASSERT(way.second.size() == count);
  std::vector<Value*> out;
  for (unsigned e = 0; e < count; ++e) {
    llvm::PHINode* value = ir_.CreatePHI(ways[0].second[e]->getType(), static_cast<unsigned>(ways.size()));
    for (const auto& [from, values] : ways) value->addIncoming(values[e], from);
    out.push_back(value);
  }
  return out;
}

void Memory::store_lanes(Address& a, StateSpace space, llvm::Type* element, const std::vector<Value*>& values) {
  move_lanes(
      a, space, element, static_cast<unsigned>(values.size()),
      [&](const Address* regular, Value*) {
        if (regular)
          direct_.store(*regular, space, element, values);
        else
          lanes_.store_irregular(addresses_.lanes(a), space, values[0]);
      },
      [&] { careful_store(a, element, values); });
}

// ld.param with the address in a register: clang reads a structure passed by value this way. It has no site of its own,
// like ld.param by name.
std::vector<Value*> Memory::load_parameter(Address& a, llvm::Type* element, unsigned count) {
  if (f_.unit.options.every_access) return careful_load(a, element, count, kLoad);
  const unsigned bytes = element->getPrimitiveSizeInBits() / 8;
  const bool uniform = a.kind == Address::Kind::uniform;
  Value* address = uniform ? a.base : addresses_.lanes(a);
  BasicBlock* fast = f_.new_block("parameter");
  BasicBlock* slow = f_.new_block("slow");
  BasicBlock* join = f_.new_block("loaded");
  ir_.CreateCondBr(parameters_.hold(address, bytes * count), fast, slow);
  ir_.SetInsertPoint(fast);
  std::vector<Value*> near;
  for (unsigned e = 0; e < count; ++e) {
    if (uniform) {
      Value* v = ir_.CreateAlignedLoad(element, f_.at(ir_.CreateIntToPtr(address, ir_.getPtrTy()), e * bytes),
                                       llvm::Align(bytes));
      near.push_back(f_.now.scalar ? v : f_.splat(v));
      continue;
    }
    llvm::Type* pointers = llvm::FixedVectorType::get(ir_.getPtrTy(), kWarpSize);
    Value* at = ir_.CreateIntToPtr(ir_.CreateAdd(address, f_.splat(ir_.getInt64(e * bytes))), pointers);
    near.push_back(
        ir_.CreateMaskedGather(llvm::FixedVectorType::get(element, kWarpSize), at, llvm::Align(bytes), masks_.lanes()));
  }
  BasicBlock* fast_end = ir_.GetInsertBlock();
  ir_.CreateBr(join);
  ir_.SetInsertPoint(slow);
  std::vector<Value*> far = careful_load(a, element, count, kLoad);
  if (!f_.now.scalar)
    for (Value*& v : far) v = f_.splat(v);
  BasicBlock* slow_end = ir_.GetInsertBlock();
  ir_.CreateBr(join);
  ir_.SetInsertPoint(join);
  std::vector<Value*> values;
  for (unsigned e = 0; e < count; ++e) {
    llvm::PHINode* phi = ir_.CreatePHI(near[e]->getType(), 2);
    phi->addIncoming(near[e], fast_end);
    phi->addIncoming(far[e], slow_end);
    values.push_back(phi);
  }
  return values;
}

// Whether the address names a parameter on the stack (stack_parameters.h).
bool Memory::names_parameter(const Operand& address) const {
  return address.base == OperandKind::variable && address.scope == ptx::Scope::function &&
         f_.function.variables[address.index].space == StateSpace::param;
}

Value* Memory::checked_by_leader() {
  const auto follows = groups_.follows(f_.now.index);
  const auto led = follows ? led_.find(follows->leader) : led_.end();
  if (led == led_.end()) return nullptr;
  events::Site& site = f_.unit.facts.sites[sites_.number()->getZExtValue()];
  WG_ASSERT(led->second.site < sites_.number()->getZExtValue());
  site.leader = led->second.site;
  site.distance = follows->distance;
  return led->second.checked;
}

void Memory::lead(const std::vector<std::pair<BasicBlock*, Value*>>& ways) {
  if (!groups_.leads(f_.now.index)) return;
  llvm::PHINode* phi = ir_.CreatePHI(ir_.getInt1Ty(), static_cast<unsigned>(ways.size()));
  for (const auto& [from, checked] : ways) phi->addIncoming(checked, from);
  led_[f_.now.index] = {phi, static_cast<std::uint32_t>(sites_.number()->getZExtValue())};
}

// Weights of a branch whose second target is the slow path.
llvm::MDNode* Memory::likely() const {
  const auto weight = [&](std::uint32_t n) { return llvm::ConstantAsMetadata::get(ir_.getInt32(n)); };
  return llvm::MDNode::get(f_.context(),
                           {llvm::MDString::get(f_.context(), "branch_weights"), weight(1000), weight(1)});
}

void Memory::load() {
  const ptx::Instruction& i = f_.instruction();
  if (i.space == StateSpace::param && i.operands[1].base == OperandKind::variable &&
      i.operands[1].scope == ptx::Scope::function)
    return parameters_.load();
  if (names_parameter(i.operands[1]) && !parameters_.access_fits(i.operands[1])) return;
  const ScalarType type = i.type();
  const unsigned count = i.vector;
  llvm::Type* e = f_.element(type);
  const unsigned bytes = e->getPrimitiveSizeInBits() / 8 * count;
  Address a = addresses_.of(i.operands[1], i.space);
  // One value for the warp: the address is uniform and memory is not private to a lane.
  f_.now.scalar = registers_.result_form().kind == FormKind::uniform && a.kind == Address::Kind::uniform;
  const bool watched = loads_shadow(i) && definedness_.tracks(i.operands[0]);
  llvm::Type* shadow = definedness_.integer(type, false);
  struct Loaded {
    std::vector<Value*> values, shadows;  // one per element; shadows only if watched
  };
  const auto deliver = [&](const Loaded& loaded) {
    const Operand& d = i.operands[0];
    for (unsigned k = 0; k < count; ++k) {
      const Operand& to = d.kind == OperandKind::vector ? d.elements[k] : d;
      if (watched) definedness_.write(to, loaded.shadows[k], type);
      registers_.write(to, loaded.values[k], type);
    }
  };
  const auto carefully = [&]() -> Loaded {
    std::vector<Value*> values = careful_load(a, e, count, kLoad);
    return {values, watched ? careful_load(a, shadow, count, kLoadShadow) : std::vector<Value*>{}};
  };
  const auto directly = [&]() -> Loaded {
    Loaded loaded{direct_.load(a, i.space, e, count), {}};
    if (!watched) return loaded;
    direct_.go_to_shadow(true);
    loaded.shadows = direct_.load(a, i.space, shadow, count);
    direct_.go_to_shadow(false);
    keep_origins(a, loaded.shadows);
    return loaded;
  };
  if (i.space == StateSpace::param) return deliver({load_parameter(a, e, count), {}});
  if (lanes_.serves(a, i.space, bytes / count, count)) return deliver({load_lanes(a, i.space, e, count), {}});
  if (!cache_.serves_all(a, i.space, bytes)) return deliver(carefully());
  BasicBlock* fast = f_.new_block("fast");
  BasicBlock* slow = f_.new_block("slow");
  BasicBlock* join = f_.new_block("loaded");
  std::vector<std::pair<BasicBlock*, Loaded>> ways;
  std::vector<std::pair<BasicBlock*, Value*>> checked;
  const auto arrive_with = [&](Loaded loaded, Value* good) {
    if (!f_.now.scalar)
      for (std::vector<Value*>* part : {&loaded.values, &loaded.shadows})
        for (Value*& v : *part) v = f_.splat(v);
    ways.emplace_back(ir_.GetInsertBlock(), std::move(loaded));
    checked.emplace_back(ir_.GetInsertBlock(), good);
    ir_.CreateBr(join);
  };
  if (Value* by_leader = checked_by_leader()) {
    ir_.CreateCondBr(by_leader, fast, slow, likely());
    ir_.SetInsertPoint(fast);
    arrive_with(directly(), ir_.getTrue());
  } else {
    Value* state = cache_.state();
    const bool masked_path = cache_.serves_some(a, i.space, bytes / count, count, /*store=*/false);
    BasicBlock* masked = masked_path ? f_.new_block("masked") : slow;
    cache_.branch(a, state, bytes, {fast, masked, slow}, likely());
    ir_.SetInsertPoint(fast);
    cache_.show_load(a, state, i, slow);
    cache_.count_all(a, i.space, state);
    arrive_with(directly(), ir_.getTrue());
    if (masked_path) {
      ir_.SetInsertPoint(masked);
      cache_.show_load(a, state, i, slow);
      Value* by_table = cache_.count_some(a, i.space, state);
      arrive_with(directly(), by_table);  // inactive lanes read valid memory, too; their values are unused
    }
  }
  ir_.SetInsertPoint(slow);
  if (access_apart(a, i.space, bytes / count, count, /*store=*/false, [&] {
        arrive_with({{lanes_.load_apart(a, addresses_.lanes(a), i.space, e)}, {}}, ir_.getFalse());
      }))
    WG_ASSERT(!watched);
  arrive_with(carefully(), ir_.getFalse());
  ir_.SetInsertPoint(join);
  lead(checked);
  const auto joined = [&](std::vector<Value*> Loaded::*part) {
    std::vector<Value*> out;
    for (unsigned k = 0; k < (ways[0].second.*part).size(); ++k) {
      llvm::PHINode* phi = ir_.CreatePHI((ways[0].second.*part)[k]->getType(), static_cast<unsigned>(ways.size()));
      for (const auto& [from, loaded] : ways) phi->addIncoming((loaded.*part)[k], from);
      out.push_back(phi);
    }
    return out;
  };
  std::vector<Value*> values = joined(&Loaded::values);
  deliver({std::move(values), joined(&Loaded::shadows)});
}

std::vector<Value*> Memory::stored_shadows() const {
  const ptx::Instruction& i = f_.instruction();
  const Operand& s = i.operands[1];
  std::vector<Value*> out;
  for (unsigned k = 0; k < i.vector; ++k)
    out.push_back(definedness_.read(s.kind == OperandKind::vector ? s.elements[k] : s, i.type(), true));
  return out;
}

// Records the source or destination of undefined bits, for addresses that the inline cache has checked.
void Memory::keep_origins(const Address& a, const std::vector<Value*>& shadows) {
  Value* all = nullptr;
  for (Value* s : shadows)
    if (s) all = all ? ir_.CreateOr(all, s) : s;
  if (!all) return;
  if (all->getType()->isVectorTy()) all = ir_.CreateOrReduce(all);
  definedness_.where_any(all, [&] {
    Value* zero = ir_.getInt64(0);
    const bool uniform = a.kind == Address::Kind::uniform;
    f_.call(
        "wg_undefined_moved", ir_.getVoidTy(),
        {f_.context_argument, sites_.number(), a.base, uniform ? zero : a.kx, uniform ? zero : a.ky, masks_.bits()});
  });
}

// Stores shadows before the values, so that a thread that sees a value also sees its shadow.
void Memory::store_shadows(const Address& a, llvm::Type* element, const std::vector<Value*>& shadows, bool some_lanes) {
  std::vector<Value*> stored = shadows;
  for (Value*& s : stored)
    if (!s) s = llvm::Constant::getNullValue(llvm::FixedVectorType::get(element, kWarpSize));
  WG_ASSERT(!some_lanes || stored.size() == 1);
  direct_.go_to_shadow(true);
  if (some_lanes)
    direct_.store_some(a, f_.instruction().space, element, stored[0]);
  else
    direct_.store(a, f_.instruction().space, element, stored);
  direct_.go_to_shadow(false);
  keep_origins(a, shadows);
}

// Call after the device has stored the values, since it marks them as defined.
void Memory::careful_store_shadows(Address& a, llvm::Type* element, const std::vector<Value*>& shadows) {
  Value* all = nullptr;
  for (Value* s : shadows)
    if (s) all = all ? ir_.CreateOr(all, s) : s;
  if (!all) return;
  definedness_.where_any(definedness_.lanes_with(all), [&] {
    const unsigned bytes = element->getPrimitiveSizeInBits() / 8;
    Value* in = scratch_area();
    llvm::Type* lanes = llvm::FixedVectorType::get(element, kWarpSize);
    for (std::size_t e = 0; e < shadows.size(); ++e)
      ir_.CreateAlignedStore(shadows[e] ? shadows[e] : llvm::Constant::getNullValue(lanes), plane(in, e, bytes),
                             llvm::Align(bytes));
    a.vector = nullptr;
    call_device(a, {"wg_store_shadow", "wg_store_shadow_affine"}, in);
    a.vector = nullptr;
  });
}

void Memory::store() {
  const ptx::Instruction& i = f_.instruction();
  if (i.space == StateSpace::param) return parameters_.store();
  if (names_parameter(i.operands[0]) && !parameters_.access_fits(i.operands[0])) return;
  const ScalarType type = i.type();
  const unsigned count = i.vector;
  llvm::Type* e = f_.element(type);
  const unsigned bytes = e->getPrimitiveSizeInBits() / 8 * count;
  Address a = addresses_.of(i.operands[0], i.space);
  std::vector<Value*> values;
  const Operand& s = i.operands[1];
  if (s.kind == OperandKind::vector &&
      std::ranges::any_of(s.elements, [](const Operand& e) { return e.kind == OperandKind::sink; }))
    return f_.unsupported("a store of 256 bits that leaves out parts of its vector ('_')");
  for (unsigned k = 0; k < count; ++k)
    values.push_back(registers_.read_vector(s.kind == OperandKind::vector ? s.elements[k] : s, type));
  const std::vector<Value*> shadows = definedness_.on() ? stored_shadows() : std::vector<Value*>{};
  llvm::Type* shadow = definedness_.integer(type, false);
  const auto carefully = [&] {
    careful_store(a, e, values);
    if (definedness_.on()) careful_store_shadows(a, shadow, shadows);
  };
  if (lanes_.serves(a, i.space, bytes / count, count)) return store_lanes(a, i.space, e, values);
  if (!cache_.serves_all(a, i.space, bytes)) return carefully();
  BasicBlock* fast = f_.new_block("fast");
  BasicBlock* slow = f_.new_block("slow");
  BasicBlock* join = f_.new_block("stored");
  std::vector<std::pair<BasicBlock*, Value*>> checked;
  const auto arrive = [&](Value* good) {
    checked.emplace_back(ir_.GetInsertBlock(), good);
    ir_.CreateBr(join);
  };
  const bool masked_path = cache_.serves_some(a, i.space, bytes / count, count, /*store=*/true);
  BasicBlock* masked = masked_path ? f_.new_block("masked") : slow;
  Value* by_leader = checked_by_leader();
  Value* state = by_leader ? nullptr : cache_.state();
  if (by_leader) {
    BasicBlock* good = f_.new_block("good");
    ir_.CreateCondBr(by_leader, good, slow, likely());
    ir_.SetInsertPoint(good);
    ir_.CreateCondBr(masks_.all_on(), fast, masked);
  } else {
    cache_.branch(a, state, bytes, {fast, masked, slow}, nullptr);
  }
  ir_.SetInsertPoint(fast);
  if (!by_leader) {
    cache_.show(a, state, i.space, slow);
    cache_.count_all(a, i.space, state);
  }
  if (definedness_.on()) store_shadows(a, shadow, shadows, false);
  direct_.store(a, i.space, e, values);
  arrive(ir_.getTrue());
  if (masked_path) {
    BasicBlock* some = f_.new_block("some_lanes");
    ir_.SetInsertPoint(masked);
    ir_.CreateCondBr(ir_.CreateICmpNE(masks_.bits(), ir_.getInt32(0)), some, slow);
    ir_.SetInsertPoint(some);
    Value* by_table = ir_.getTrue();
    if (!by_leader) {
      cache_.show(a, state, i.space, slow);
      by_table = cache_.count_some(a, i.space, state);
    }
    if (definedness_.on()) store_shadows(a, shadow, shadows, true);
    direct_.store_some(a, i.space, e, values[0]);
    arrive(by_table);
  }
  ir_.SetInsertPoint(slow);
  access_apart(a, i.space, bytes / count, count, /*store=*/true, [&] {
    lanes_.store_apart(a, addresses_.lanes(a), i.space, values[0]);
    arrive(ir_.getFalse());
  });
  carefully();
  arrive(ir_.getFalse());
  ir_.SetInsertPoint(join);
  lead(checked);
}

}  // namespace warpgrind::jit
