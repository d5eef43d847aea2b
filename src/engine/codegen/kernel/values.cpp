// Types and conversions of a warp's values in LLVM IR.
#include "codegen/kernel/values.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include "base/assert.h"
#include "jit/abi.h"

namespace warpgrind::jit {

using llvm::Value;
using ptx::ScalarType;

llvm::Type* Values::element(ScalarType type) const {
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

Value* Values::convert_bits(Value* value, ScalarType to) const {
  llvm::Type* from_element = value->getType()->getScalarType();
  llvm::Type* to_element = element(to);
  if (from_element == to_element) return value;
  const auto shaped = [&](llvm::Type* e) -> llvm::Type* {
    return value->getType()->isVectorTy() ? llvm::FixedVectorType::get(e, kWarpSize) : e;
  };
  const unsigned from_bits = from_element->getPrimitiveSizeInBits(), to_bits = to_element->getPrimitiveSizeInBits();
  if (!from_element->isIntegerTy()) value = builder_->CreateBitCast(value, shaped(builder_->getIntNTy(from_bits)));
  if (from_bits != to_bits) value = builder_->CreateZExtOrTrunc(value, shaped(builder_->getIntNTy(to_bits)));
  return to_element->isIntegerTy() ? value : builder_->CreateBitCast(value, shaped(to_element));
}

Value* Values::splat(Value* value) const {
  return value->getType()->isVectorTy() ? value : builder_->CreateVectorSplat(kWarpSize, value);
}

Value* Values::lanes_to_bits(Value* lanes) const {
  WG_ASSERT(lanes->getType()->getScalarType()->isIntegerTy(1));
  if (!lanes->getType()->isVectorTy()) return builder_->CreateSExt(lanes, builder_->getInt32Ty());
  return builder_->CreateBitCast(lanes, builder_->getInt32Ty());
}

Value* Values::bits_to_lanes(Value* bits) const {
  WG_ASSERT(bits->getType()->isIntegerTy(32));
  return builder_->CreateBitCast(bits, llvm::FixedVectorType::get(builder_->getInt1Ty(), kWarpSize));
}

Value* Values::call(const char* name, llvm::Type* result, llvm::ArrayRef<Value*> arguments) const {
  if (*before_call_) (*before_call_)(arguments);
  llvm::SmallVector<llvm::Type*, 8> types;
  for (Value* a : arguments) types.push_back(a->getType());
  llvm::Module* module = builder_->GetInsertBlock()->getModule();
  llvm::FunctionCallee f = module->getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  llvm::CallInst* call = builder_->CreateCall(f, arguments);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  return call;
}

}  // namespace warpgrind::jit
