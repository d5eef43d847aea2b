// Types and conversions of a warp's values in LLVM IR.
#include "codegen/kernel/values.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include <bit>
#include <numeric>

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
  if (has_avx512(*builder_->GetInsertBlock()->getParent()))
    return builder_->CreateBitCast(bits, llvm::FixedVectorType::get(builder_->getInt1Ty(), kWarpSize));
  // Without mask registers, LLVM would take the bits one by one: 167 instructions for a masked store instead of 22.
  llvm::SmallVector<std::uint32_t, kWarpSize> of_lanes;
  for (unsigned l = 0; l < kWarpSize; ++l) of_lanes.push_back(1u << l);
  Value* own = builder_->CreateAnd(splat(bits), llvm::ConstantDataVector::get(context(), of_lanes));
  return builder_->CreateICmpNE(own, llvm::Constant::getNullValue(own->getType()));
}

Value* Values::slice(Value* lanes, unsigned first, unsigned count) const {
  llvm::SmallVector<int, kWarpSize> pick;
  for (unsigned l = 0; l < count; ++l) pick.push_back(static_cast<int>(first + l));
  return builder_->CreateShuffleVector(lanes, pick);
}

Value* Values::concatenated(std::vector<Value*> parts) const {
  WG_ASSERT(std::has_single_bit(parts.size()));
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {  // pairs
    const unsigned n = llvm::cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements();
    std::vector<int> both(std::size_t{2} * n);
    std::iota(both.begin(), both.end(), 0);
    for (std::size_t p = 0; p < parts.size(); p += 2)
      parts[p / 2] = builder_->CreateShuffleVector(parts[p], parts[p + 1], both);
  }
  return parts[0];
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
