// LLVM passes that turn memcpy calls into vector loads and stores.
#include "launchpass/vector_copies.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <vector>

namespace {

constexpr std::uint64_t kWidest = 16;   // bytes of an access: .v4.b32 or .v2.b64
constexpr std::uint64_t kLongest = 64;  // longer copies are left to LLVM, which makes loops of them

// The element type that makes up the whole type: float for a float4 or an array of them. Null: several types, or
// padding.
llvm::Type* only_element(llvm::Type* type) {
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) return only_element(array->getElementType());
  auto* fields = llvm::dyn_cast<llvm::StructType>(type);
  if (!fields) return type->isFloatingPointTy() || type->isIntegerTy() ? type : nullptr;
  llvm::Type* element = nullptr;
  for (llvm::Type* field : fields->elements()) {
    llvm::Type* found = only_element(field);
    if (!found || (element && found != element)) return nullptr;
    element = found;
  }
  return element;
}

// The vector type for copying a local variable; null: the variable has none of CUDA's vector types.
llvm::Type* vector_of(llvm::Value* pointer, std::uint64_t bytes, const llvm::DataLayout& layout) {
  const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
  if (!variable || variable->isArrayAllocation()) return nullptr;
  llvm::Type* element = only_element(variable->getAllocatedType());
  if (!element) return nullptr;
  const std::uint64_t size = layout.getTypeStoreSize(element);
  if (layout.getTypeAllocSize(element) != size || (bytes != 2 * size && bytes != 4 * size)) return nullptr;
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(bytes / size));
}

void copy(llvm::MemCpyInst& copy, llvm::Type* type, std::uint64_t bytes, std::uint64_t step) {
  llvm::IRBuilder<> ir(&copy);
  for (std::uint64_t at = 0; at < bytes; at += step) {
    llvm::Value* from = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), copy.getRawSource(), at);
    llvm::Value* to = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), copy.getRawDest(), at);
    ir.CreateAlignedStore(ir.CreateAlignedLoad(type, from, llvm::Align(step)), to, llvm::Align(step));
  }
}

using TypeOf = std::function<llvm::Type*(const llvm::MemCpyInst&, std::uint64_t bytes, std::uint64_t* step)>;

llvm::PreservedAnalyses replace(llvm::Function& function, const TypeOf& type_of) {
  std::vector<llvm::MemCpyInst*> done;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* found = llvm::dyn_cast<llvm::MemCpyInst>(&instruction);
    const auto* length = found ? llvm::dyn_cast<llvm::ConstantInt>(found->getLength()) : nullptr;
    if (!length || found->isVolatile()) continue;
    const std::uint64_t bytes = length->getZExtValue();
    std::uint64_t step = bytes;
    llvm::Type* type = type_of(*found, bytes, &step);
    if (!type || found->getDestAlign().valueOrOne().value() < step ||
        found->getSourceAlign().valueOrOne().value() < step)
      continue;
    copy(*found, type, bytes, step);
    done.push_back(found);
  }
  for (llvm::MemCpyInst* found : done) found->eraseFromParent();
  return done.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace

llvm::PreservedAnalyses VectorCopies::run(llvm::Function& function, llvm::FunctionAnalysisManager& /*analyses*/) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  return replace(function, [&](const llvm::MemCpyInst& copy, std::uint64_t bytes, std::uint64_t*) -> llvm::Type* {
    if (bytes > kWidest) return nullptr;
    // A copy from one variable to another is no memory access, and soon optimised away.
    llvm::Type* to = vector_of(copy.getRawDest(), bytes, layout);
    llvm::Type* from = vector_of(copy.getRawSource(), bytes, layout);
    return to && from ? nullptr : to ? to : from;
  });
}

llvm::PreservedAnalyses WideCopies::run(llvm::Function& function, llvm::FunctionAnalysisManager& /*analyses*/) {
  llvm::Type* type = llvm::FixedVectorType::get(llvm::Type::getInt32Ty(function.getContext()), 4);
  return replace(function, [&](const llvm::MemCpyInst&, std::uint64_t bytes, std::uint64_t* step) -> llvm::Type* {
    *step = kWidest;
    return bytes % kWidest == 0 && bytes <= kLongest ? type : nullptr;
  });
}
