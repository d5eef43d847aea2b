// FunctionLowering: reading and writing operands in every form.
#include <llvm/IR/Constants.h>

#include "jit/kernel/function_lowering.h"

namespace warpgrind::jit {

using flow::FormKind;
using llvm::Value;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

Value* FunctionLowering::lane_pattern(bool y, unsigned width) {
  llvm::SmallVector<llvm::Constant*, kWarpSize> lanes;
  for (unsigned l = 0; l < kWarpSize; ++l) lanes.push_back(ir_.getIntN(width, y ? l / row_length_ : l % row_length_));
  return llvm::ConstantVector::get(lanes);
}

// Same bits, another type: bitcast where the sizes agree, else truncation or zero extension of the integer.
Value* FunctionLowering::convert_bits(Value* value, ScalarType from, ScalarType to) {
  llvm::Type* from_element = value->getType()->getScalarType();
  llvm::Type* to_element = element(to);
  (void)from;
  if (from_element == to_element) return value;
  const auto shaped = [&](llvm::Type* e) -> llvm::Type* {
    return value->getType()->isVectorTy() ? llvm::FixedVectorType::get(e, kWarpSize) : e;
  };
  const unsigned from_bits = from_element->getPrimitiveSizeInBits(), to_bits = to_element->getPrimitiveSizeInBits();
  if (!from_element->isIntegerTy()) value = ir_.CreateBitCast(value, shaped(ir_.getIntNTy(from_bits)));
  if (from_bits != to_bits) value = ir_.CreateZExtOrTrunc(value, shaped(ir_.getIntNTy(to_bits)));
  return to_element->isIntegerTy() ? value : ir_.CreateBitCast(value, shaped(to_element));
}

bool FunctionLowering::is_scalar(const Operand& operand) const {
  return operand.kind == OperandKind::sink || form(operand).kind == FormKind::uniform;
}

Value* FunctionLowering::affine_vector(const Affine& a) {
  Value* v = splat(a.b);
  const auto add_term = [&](Value* k, bool y) {
    if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(k); c && c->isZero()) return;
    v = ir_.CreateAdd(v, ir_.CreateMul(splat(k), lane_pattern(y, 32)));
  };
  add_term(a.kx, false);
  if (row_length_ < 32) add_term(a.ky, true);
  if (!a.wide) return v;
  llvm::Type* wide = llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize);
  v = a.is_signed ? ir_.CreateSExt(v, wide) : ir_.CreateZExt(v, wide);
  if (a.scale != 1) v = ir_.CreateMul(v, splat(ir_.getInt64(static_cast<std::uint64_t>(a.scale))));
  return ir_.CreateAdd(v, splat(a.base));
}

Value* FunctionLowering::register_vector(ptx::RegId r) {
  const flow::Form& f = form(r);
  const Slot& slot = slots_[r];
  llvm::Type* type = slot_type(function_.registers[r].type);
  switch (f.kind) {
    case FormKind::uniform:
      return splat(ir_.CreateLoad(type, slot.scalar));
    case FormKind::varying:
      return ir_.CreateLoad(llvm::FixedVectorType::get(type, kWarpSize), slot.vector);
    default: {
      Operand o;
      o.kind = OperandKind::reg;
      o.index = r;
      return affine_vector(read_affine(o, f.kind == FormKind::wide ? 64 : 32));
    }
  }
}

// Any operand that is uniform, affine or (width 64) wide, in affine terms.
FunctionLowering::Affine FunctionLowering::read_affine(const Operand& operand, unsigned width) {
  const flow::Form f = form(operand);
  Affine a;
  a.kx = a.ky = ir_.getInt32(0);
  if (f.kind == FormKind::uniform) {
    Value* value = read_scalar(operand, width == 64 ? ScalarType::b64 : ScalarType::b32);
    if (width == 64) {
      a.wide = true;
      a.base = value;
      a.b = ir_.getInt32(0);
    } else {
      a.b = value;
    }
    return a;
  }
  if (operand.kind == OperandKind::sreg) {
    using S = ptx::SpecialRegister;
    const auto base = [&](unsigned d) {
      return context_field(offsetof(WarpContext, tid_base) + 4 * d, ir_.getInt32Ty(), "tid_base");
    };
    switch (operand.sreg) {
      case S::tid_x:
        a.b = row_length_ == 32 ? base(0) : static_cast<Value*>(ir_.getInt32(0));
        a.kx = ir_.getInt32(1);
        break;
      case S::tid_y:
        a.b = base(1);
        a.ky = ir_.getInt32(1);
        break;
      default:  // laneid
        a.b = ir_.getInt32(0);
        a.kx = ir_.getInt32(1);
        a.ky = ir_.getInt32(row_length_ == 32 ? 0 : row_length_);
    }
    return a;
  }
  WG_ASSERT(operand.kind == OperandKind::reg);
  const Slot& slot = slots_[operand.index];
  const auto coefficient = [&](const std::optional<std::int64_t>& k, llvm::AllocaInst* at) -> Value* {
    if (k) return ir_.getInt32(static_cast<std::uint32_t>(*k));
    return ir_.CreateLoad(ir_.getInt32Ty(), at);
  };
  a.b = ir_.CreateLoad(ir_.getInt32Ty(), slot.scalar);
  a.kx = coefficient(f.kx, slot.kx);
  a.ky = coefficient(f.ky, slot.ky);
  if (f.kind == FormKind::wide) {
    a.wide = a.carries_lanes = true;
    a.base = ir_.CreateLoad(ir_.getInt64Ty(), slot.base);
    a.scale = f.scale;
    a.is_signed = f.is_signed;
  }
  return a;
}

void FunctionLowering::write_affine(ptx::RegId r, const Affine& a) {
  const flow::Form& f = form(r);
  const Slot& slot = slots_[r];
  if (f.kind == FormKind::varying || f.kind == FormKind::uniform) {
    const ScalarType type = function_.registers[r].type;
    Operand o;
    o.kind = OperandKind::reg;
    o.index = r;
    write(o,
          f.kind == FormKind::varying ? convert_bits(affine_vector(a), ScalarType::none, type)
                                      : convert_bits(a.wide ? a.base : a.b, ScalarType::none, type),
          type);
    return;
  }
  ir_.CreateStore(a.b, slot.scalar);
  if (slot.kx) ir_.CreateStore(a.kx, slot.kx);
  if (slot.ky) ir_.CreateStore(a.ky, slot.ky);
  if (slot.base) ir_.CreateStore(a.base, slot.base);
}

Value* FunctionLowering::variable_address(const Operand& o) {
  const bool module_scope = o.scope == ptx::Scope::module;
  const ptx::Variable& v = module_scope ? unit_.module->variables[o.index] : function_.variables[o.index];
  const auto plus_offset = [&](Value* address) {
    return o.offset ? ir_.CreateAdd(address, ir_.getInt64(static_cast<std::uint64_t>(o.offset))) : address;
  };
  switch (v.space) {
    case StateSpace::shared: {
      const std::uint64_t at = module_scope ? unit_.layout->shared_module.at(o.index)
                                            : unit_.layout->shared_function.at({function_index_, o.index});
      if (v.unsized)
        return plus_offset(
            context_field(offsetof(WarpContext, dynamic_shared_offset), ir_.getInt64Ty(), "dynamic_shared"));
      return ir_.getInt64(at + static_cast<std::uint64_t>(o.offset));
    }
    case StateSpace::local:
      return ir_.CreateAdd(frame_base_, ir_.getInt64(unit_.layout->local.at({function_index_, o.index}) +
                                                     static_cast<std::uint64_t>(o.offset)));
    case StateSpace::param: {
      if (!(function_.is_entry && o.index < function_.parameter_count)) {
        unsupported("taking the address of a device function's parameter");
        return ir_.getInt64(0);
      }
      Value* params = context_field(offsetof(WarpContext, params), ir_.getPtrTy(), "params");
      return ir_.CreateAdd(
          ir_.CreatePtrToInt(params, ir_.getInt64Ty()),
          ir_.getInt64(parameter_layout(function_)[o.index].offset + static_cast<std::uint64_t>(o.offset)));
    }
    default: {
      Value*& address = global_addresses_[o.index];
      if (!address) {
        Value* table = context_field(offsetof(WarpContext, globals), prologue_.getPtrTy(), "globals");
        llvm::LoadInst* load = prologue_.CreateLoad(
            prologue_.getInt64Ty(), prologue_.CreateConstInBoundsGEP1_64(prologue_.getInt64Ty(), table, o.index),
            "global");
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context(), {}));
        address = load;
      }
      return plus_offset(address);
    }
  }
}

// Clusters, and the sizes and parts of shared memory.
Value* FunctionLowering::cluster_register(ptx::SpecialRegister s) {
  using S = ptx::SpecialRegister;
  const auto field = [&](std::size_t offset, const char* name) -> Value* {
    return context_field(offset, ir_.getInt32Ty(), name);
  };
  const auto dim = [&](std::size_t base, S first) {
    return field(base + 4 * (static_cast<unsigned>(s) - static_cast<unsigned>(first)), "dim");
  };
  switch (s) {
    case S::total_smem_size:
      return field(offsetof(WarpContext, total_shared), "total_shared");
    case S::aggr_smem_size:
      return field(offsetof(WarpContext, all_shared), "all_shared");
    case S::clusterid_x:
    case S::clusterid_y:
    case S::clusterid_z:
      return ir_.CreateUDiv(dim(offsetof(WarpContext, ctaid), S::clusterid_x),
                            dim(offsetof(WarpContext, cluster_dim), S::clusterid_x));
    case S::nclusterid_x:
    case S::nclusterid_y:
    case S::nclusterid_z:
      return ir_.CreateUDiv(dim(offsetof(WarpContext, nctaid), S::nclusterid_x),
                            dim(offsetof(WarpContext, cluster_dim), S::nclusterid_x));
    case S::cluster_ctaid_x:
    case S::cluster_ctaid_y:
    case S::cluster_ctaid_z:
      return ir_.CreateURem(dim(offsetof(WarpContext, ctaid), S::cluster_ctaid_x),
                            dim(offsetof(WarpContext, cluster_dim), S::cluster_ctaid_x));
    case S::cluster_ctarank:
      return field(offsetof(WarpContext, cluster_rank), "cluster_rank");
    case S::cluster_nctaid_x:
    case S::cluster_nctaid_y:
    case S::cluster_nctaid_z:
      return dim(offsetof(WarpContext, cluster_dim), S::cluster_nctaid_x);
    case S::cluster_nctarank: {
      const auto side = [&](unsigned d) { return field(offsetof(WarpContext, cluster_dim) + 4 * d, "cluster"); };
      return ir_.CreateMul(ir_.CreateMul(side(0), side(1)), side(2));
    }
    case S::is_explicit_cluster:
      return ir_.CreateICmpNE(field(offsetof(WarpContext, explicit_cluster), "explicit"), ir_.getInt32(0));
    case S::reserved_smem_offset_begin:
    case S::reserved_smem_offset_0:
      return ir_.getInt32(kReservedShared);
    case S::reserved_smem_offset_1:
      return ir_.getInt32(kReservedShared + kReservedSharedBytes / 2);
    case S::reserved_smem_offset_end:
    case S::reserved_smem_offset_cap:
      return ir_.getInt32(kReservedShared + kReservedSharedBytes);
    default:
      unsupported("this special register");
      return ir_.getInt32(0);
  }
}

Value* FunctionLowering::special_register(ptx::SpecialRegister s, bool vector, const Operand& operand) {
  using S = ptx::SpecialRegister;
  const auto field = [&](std::size_t offset, const char* name) -> Value* {
    return context_field(offset, ir_.getInt32Ty(), name);
  };
  const auto dim = [&](std::size_t base, S first) {
    return field(base + 4 * (static_cast<unsigned>(s) - static_cast<unsigned>(first)), "dim");
  };
  const auto lanes = [&](auto f) {
    llvm::SmallVector<llvm::Constant*, kWarpSize> c;
    for (unsigned l = 0; l < kWarpSize; ++l) c.push_back(ir_.getInt32(f(l)));
    return llvm::ConstantVector::get(c);
  };
  if (vector && form(operand).kind == FormKind::affine) return affine_vector(read_affine(operand, 32));
  switch (s) {
    case S::tid_x:
    case S::tid_y:
    case S::tid_z: {
      const unsigned d = static_cast<unsigned>(s) - static_cast<unsigned>(S::tid_x);
      if (!layout_.general) return field(offsetof(WarpContext, tid_base) + 4 * d, "tid_base");
      return context_field(offsetof(WarpContext, tid) + 128 * d,
                           llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize), "tid");
    }
    case S::ntid_x:
    case S::ntid_y:
    case S::ntid_z:
      return dim(offsetof(WarpContext, ntid), S::ntid_x);
    case S::ctaid_x:
    case S::ctaid_y:
    case S::ctaid_z:
      return dim(offsetof(WarpContext, ctaid), S::ctaid_x);
    case S::nctaid_x:
    case S::nctaid_y:
    case S::nctaid_z:
      return dim(offsetof(WarpContext, nctaid), S::nctaid_x);
    case S::warpid:
      return field(offsetof(WarpContext, warp), "warp");
    case S::smid:
      return field(offsetof(WarpContext, smid), "smid");
    case S::lanemask_eq:
      return lanes([](unsigned l) { return 1u << l; });
    case S::lanemask_lt:
      return lanes([](unsigned l) { return (1u << l) - 1; });
    case S::lanemask_le:
      return lanes([](unsigned l) { return (2u << l) - 1; });
    case S::lanemask_gt:
      return lanes([](unsigned l) { return ~((2u << l) - 1); });
    case S::lanemask_ge:
      return lanes([](unsigned l) { return ~((1u << l) - 1); });
    case S::envreg:
      return operand.index < 4 ? field(offsetof(WarpContext, env) + 4 * operand.index, "env") : ir_.getInt32(0);
    case S::clock:
      return ir_.CreateTrunc(ir_.CreateIntrinsic(ir_.getInt64Ty(), llvm::Intrinsic::readcyclecounter, {}),
                             ir_.getInt32Ty());
    case S::clock64:
      return ir_.CreateIntrinsic(ir_.getInt64Ty(), llvm::Intrinsic::readcyclecounter, {});
    case S::clock_hi:
      return ir_.CreateTrunc(
          ir_.CreateLShr(ir_.CreateIntrinsic(ir_.getInt64Ty(), llvm::Intrinsic::readcyclecounter, {}), 32),
          ir_.getInt32Ty());
    case S::globaltimer:
      return call("wg_globaltimer", ir_.getInt64Ty(), {});
    case S::globaltimer_lo:
      return ir_.CreateTrunc(call("wg_globaltimer", ir_.getInt64Ty(), {}), ir_.getInt32Ty());
    case S::globaltimer_hi:
      return ir_.CreateTrunc(ir_.CreateLShr(call("wg_globaltimer", ir_.getInt64Ty(), {}), 32), ir_.getInt32Ty());
    case S::nwarpid:
      return ir_.getInt32(64);
    case S::nsmid:
      return ir_.getInt32(256);
    case S::gridid:
      return ir_.getInt64(1);
    case S::dynamic_smem_size: {
      Value* size = context_field(offsetof(WarpContext, shared_size), ir_.getInt64Ty(), "shared_size");
      Value* start = context_field(offsetof(WarpContext, dynamic_shared_offset), ir_.getInt64Ty(), "dynamic_shared");
      return ir_.CreateTrunc(ir_.CreateSub(size, start), ir_.getInt32Ty());
    }
    default:
      return cluster_register(s);
  }
}

Value* FunctionLowering::read_scalar(const Operand& o, ScalarType type) {
  switch (o.kind) {
    case OperandKind::reg: {
      const ScalarType reg_type = function_.registers[o.index].type;
      Value* value = ir_.CreateLoad(slot_type(reg_type), slots_[o.index].scalar);
      if (o.negated) value = ir_.CreateNot(value);
      return convert_bits(value, reg_type, type);
    }
    case OperandKind::sreg:
      return convert_bits(special_register(o.sreg, false, o), ScalarType::none, type);
    case OperandKind::immediate: {
      llvm::Type* e = element(type);
      if (e->isIntegerTy())
        return ir_.getIntN(e->getIntegerBitWidth(),
                           llvm::APInt(64, o.bits).zextOrTrunc(std::min(64u, e->getIntegerBitWidth())).getZExtValue());
      if (e->isDoubleTy() && o.literal == ptx::Literal::f32) {
        const auto bits = static_cast<std::uint32_t>(o.bits);
        return llvm::ConstantFP::get(e, static_cast<double>(std::bit_cast<float>(bits)));
      }
      if (o.literal == ptx::Literal::f64 && !e->isDoubleTy())
        return llvm::ConstantFP::get(e, std::bit_cast<double>(o.bits));
      return llvm::ConstantFP::get(
          context(), llvm::APFloat(e->getFltSemantics(), llvm::APInt(e->getPrimitiveSizeInBits(), o.bits)));
    }
    case OperandKind::variable:
      return convert_bits(variable_address(o), ScalarType::none, type);
    case OperandKind::function: {
      // The address of a device function is 1 + its index, so that null stays null; calls look it up in
      // WarpContext::functions.
      return convert_bits(ir_.getInt64(o.index + 1), ScalarType::none, type);
    }
    case OperandKind::address: {
      Value* base = o.base == OperandKind::reg
                        ? ir_.CreateZExtOrTrunc(
                              ir_.CreateLoad(slot_type(function_.registers[o.index].type), slots_[o.index].scalar),
                              ir_.getInt64Ty())
                    : o.base == OperandKind::variable ? variable_address(o)
                                                      : ir_.getInt64(static_cast<std::uint64_t>(o.offset));
      if (o.base == OperandKind::reg && o.offset)
        base = ir_.CreateAdd(base, ir_.getInt64(static_cast<std::uint64_t>(o.offset)));
      return convert_bits(base, ScalarType::none, type);
    }
    default:
      unsupported("this kind of operand here");
      return llvm::Constant::getNullValue(element(type));
  }
}

Value* FunctionLowering::read_vector(const Operand& o, ScalarType type) {
  if (is_scalar(o)) return splat(read_scalar(o, type));
  Value* value = nullptr;
  if (o.kind == OperandKind::sreg) {
    value = special_register(o.sreg, true, o);
  } else {
    WG_ASSERT(o.kind == OperandKind::reg || o.kind == OperandKind::address);
    value = register_vector(o.index);
    if (o.kind == OperandKind::address) {
      value = convert_bits(value, ScalarType::none, ScalarType::b64);
      if (o.offset) value = ir_.CreateAdd(value, splat(ir_.getInt64(static_cast<std::uint64_t>(o.offset))));
    }
  }
  if (o.negated) value = ir_.CreateNot(value);
  return convert_bits(value, ScalarType::none, type);
}

Value* FunctionLowering::read(const Operand& operand, ScalarType type) {
  return scalar_ ? read_scalar(operand, type) : read_vector(operand, type);
}

Value* FunctionLowering::source(std::size_t index, ScalarType type) {
  return read(instruction_->operands[index], type);
}

void FunctionLowering::result(std::size_t index, Value* value, ScalarType type) {
  write(instruction_->operands[index], value, type);
}

void FunctionLowering::write(const Operand& o, Value* value, ScalarType type) {
  if (o.kind == OperandKind::sink || o.kind == OperandKind::none) return;
  WG_ASSERT(o.kind == OperandKind::reg);
  const ScalarType reg_type = function_.registers[o.index].type;
  llvm::Type* slot = slot_type(reg_type);
  const unsigned have = value->getType()->getScalarSizeInBits(), want = slot->getPrimitiveSizeInBits();
  if (have < want && value->getType()->isIntOrIntVectorTy() && ptx::is_signed(type)) {
    llvm::Type* wide = ir_.getIntNTy(want);
    value = ir_.CreateSExt(value, value->getType()->isVectorTy() ? llvm::FixedVectorType::get(wide, kWarpSize) : wide);
  }
  value = convert_bits(value, type, reg_type);
  const flow::Form& f = form(o.index);
  const Slot& s = slots_[o.index];
  if (f.kind == FormKind::uniform) {
    if (value->getType()->isVectorTy()) value = ir_.CreateExtractElement(value, std::uint64_t{0});
    ir_.CreateStore(value, s.scalar);
    return;
  }
  if (f.kind != FormKind::varying) {  // a uniform value into an affine or wide register
    WG_ASSERT(!value->getType()->isVectorTy());
    Affine a;
    a.kx = a.ky = ir_.getInt32(0);
    a.wide = f.kind == FormKind::wide;
    a.base = a.wide ? value : nullptr;
    a.b = a.wide ? ir_.getInt32(0) : value;
    write_affine(o.index, a);
    return;
  }
  value = splat(value);
  if (guard_bits_ || analysis_.blend[current_block_][o.index]) {
    Value* old = ir_.CreateLoad(value->getType(), s.vector);
    value = ir_.CreateSelect(mask_vector(), value, old);
  }
  ir_.CreateStore(value, s.vector);
}

Value* FunctionLowering::mask_bits() {
  return guard_bits_ ? guard_bits_ : active();
}
Value* FunctionLowering::mask_vector() {
  return bits_to_lanes(mask_bits());
}

Value* FunctionLowering::carry_slot() {
  if (!carry_) {
    llvm::Type* type = llvm::FixedVectorType::get(ir_.getInt1Ty(), kWarpSize);
    carry_ = entry_alloca(type, "carry");
    prologue_.CreateStore(llvm::Constant::getNullValue(type), carry_);
  }
  return carry_;
}

}  // namespace warpgrind::jit
