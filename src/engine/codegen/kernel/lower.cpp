// Helpers of Lowering: types, constants, scratch arrays and calls of C++ functions.
#include "codegen/kernel/lower.h"

#include <llvm/IR/Constants.h>

#include "codegen/families/families.h"
#include "jit/abi.h"

namespace warpgrind::jit {

using llvm::Value;
using ptx::ScalarType;

bool is_half_type(ScalarType t) {
  return t == ScalarType::f16 || t == ScalarType::bf16 || t == ScalarType::f16x2 || t == ScalarType::bf16x2;
}

llvm::Type* Lowering::value_type(llvm::Type* e) {
  return scalar() ? e : llvm::FixedVectorType::get(e, kWarpSize);
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
  return scalar() ? c : splat(c);
}

Value* Lowering::constant(llvm::Type* e, double value) {
  llvm::Constant* c = llvm::ConstantFP::get(e, value);
  return scalar() ? c : splat(c);
}

Value* Lowering::scratch(llvm::Type* e, unsigned count) {
  std::vector<Value*>& areas = scratch_areas_[{e, count}];
  const std::size_t use = scratch_used_[{e, count}]++;
  if (use < areas.size()) return areas[use];
  llvm::BasicBlock& entry = ir().GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> at(&entry, entry.begin());
  llvm::AllocaInst* area =
      at.CreateAlloca(llvm::ArrayType::get(e, std::uint64_t{kWarpSize} * count), nullptr, "scratch");
  area->setAlignment(llvm::Align(64));
  areas.push_back(area);
  return area;
}

// Predicates are passed as bytes: <32 x i1> has no array layout in C++.
Value* Lowering::call_lanes(const char* name, llvm::Type* result_element, std::initializer_list<Value*> arguments,
                            bool pass_context, bool pass_mask) {
  llvm::Type* i8 = ir().getInt8Ty();
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
      v = ir().CreateZExt(v, llvm::FixedVectorType::get(i8, kWarpSize));
    Value* area = scratch(v->getType()->getScalarType());
    ir().CreateAlignedStore(v, area, llvm::Align(64));
    pass.push_back(area);
  }
  call(name, ir().getVoidTy(), pass);
  Value* result = ir().CreateAlignedLoad(
      scalar() ? stored : static_cast<llvm::Type*>(llvm::FixedVectorType::get(stored, kWarpSize)), out,
      llvm::Align(64));
  if (!predicate) return result;
  return ir().CreateICmpNE(result, llvm::Constant::getNullValue(result->getType()));
}

}  // namespace warpgrind::jit
