// The members of Lowering that do not depend on how registers are kept.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include "jit/abi.h"
#include "jit/families/families.h"
#include "jit/kernel/lower.h"

namespace warpgrind::jit {

using llvm::Value;
using ptx::ScalarType;

bool is_half_type(ScalarType t) {
  return t == ScalarType::f16 || t == ScalarType::bf16 || t == ScalarType::f16x2 || t == ScalarType::bf16x2;
}

llvm::Type* Lowering::element(ScalarType type) {
  switch (type) {
    case ScalarType::pred:
      return builder_->getInt1Ty();
    case ScalarType::f32:
      return builder_->getFloatTy();
    case ScalarType::f64:
      return builder_->getDoubleTy();
    default:
      return builder_->getIntNTy(ptx::bits(type) ? ptx::bits(type) : 64);
  }
}

llvm::Type* Lowering::value_type(llvm::Type* e) {
  return scalar_ ? e : llvm::FixedVectorType::get(e, kWarpSize);
}
llvm::Type* Lowering::value_type(ScalarType type) {
  return value_type(element(type));
}

Value* Lowering::constant(ScalarType type, std::uint64_t bits) {
  llvm::Type* e = element(type);
  llvm::Constant* c = nullptr;
  if (e->isIntegerTy())
    c = llvm::ConstantInt::get(e, bits);
  else
    c = llvm::ConstantFP::get(context(),
                              llvm::APFloat(e->getFltSemantics(), llvm::APInt(e->getPrimitiveSizeInBits(), bits)));
  return scalar_ ? c : splat(c);
}

Value* Lowering::constant(llvm::Type* e, double value) {
  llvm::Constant* c = llvm::ConstantFP::get(e, value);
  return scalar_ ? c : splat(c);
}

Value* Lowering::splat(Value* value) {
  return value->getType()->isVectorTy() ? value : builder_->CreateVectorSplat(kWarpSize, value);
}

Value* Lowering::lanes_to_bits(Value* lanes) {
  if (!lanes->getType()->isVectorTy()) return builder_->CreateSExt(lanes, builder_->getInt32Ty());
  return builder_->CreateBitCast(lanes, builder_->getInt32Ty());
}

Value* Lowering::bits_to_lanes(Value* bits) {
  return builder_->CreateBitCast(bits, llvm::FixedVectorType::get(builder_->getInt1Ty(), kWarpSize));
}

Value* Lowering::scratch(llvm::Type* e, unsigned count) {
  std::vector<Value*>& areas = scratch_areas_[{e, count}];
  const std::size_t use = scratch_used_[{e, count}]++;
  if (use < areas.size()) return areas[use];
  llvm::BasicBlock& entry = builder_->GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> at(&entry, entry.begin());
  llvm::AllocaInst* area =
      at.CreateAlloca(llvm::ArrayType::get(e, std::uint64_t{kWarpSize} * count), nullptr, "scratch");
  area->setAlignment(llvm::Align(64));
  areas.push_back(area);
  return area;
}

Value* Lowering::call(const char* name, llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
  llvm::SmallVector<llvm::Type*, 8> types;
  for (Value* a : arguments) types.push_back(a->getType());
  llvm::Module* module = builder_->GetInsertBlock()->getModule();
  llvm::FunctionCallee f = module->getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  llvm::CallInst* call = builder_->CreateCall(f, arguments);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  return call;
}

// Predicates travel as bytes: <32 x i1> has no array layout in C++.
Value* Lowering::call_lanes(const char* name, llvm::Type* result_element, std::initializer_list<Value*> arguments,
                            bool pass_context, bool pass_mask) {
  llvm::Type* i8 = builder_->getInt8Ty();
  const bool predicate = result_element->isIntegerTy(1);
  llvm::Type* stored = predicate ? i8 : result_element;
  llvm::SmallVector<Value*, 8> pass;
  if (pass_context) pass.push_back(context_pointer());
  if (pass_mask) pass.push_back(mask_bits());
  Value* out = scratch(stored);
  pass.push_back(out);
  for (Value* a : arguments) {
    Value* v = splat(a);
    if (v->getType()->getScalarType()->isIntegerTy(1))
      v = builder_->CreateZExt(v, llvm::FixedVectorType::get(i8, kWarpSize));
    Value* area = scratch(v->getType()->getScalarType());
    builder_->CreateAlignedStore(v, area, llvm::Align(64));
    pass.push_back(area);
  }
  call(name, builder_->getVoidTy(), pass);
  Value* result = builder_->CreateAlignedLoad(
      scalar_ ? stored : static_cast<llvm::Type*>(llvm::FixedVectorType::get(stored, kWarpSize)), out, llvm::Align(64));
  if (!predicate) return result;
  return builder_->CreateICmpNE(result, llvm::Constant::getNullValue(result->getType()));
}

}  // namespace warpgrind::jit
