// Values of a warp in LLVM IR: one for all lanes (scalar) or a vector of 32. Types, conversions between the two, calls.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <functional>
#include <vector>

#include "ptx/types.h"

namespace warpgrind::jit {

// Whether the code of the function may use AVX-512 (codegen/kernel/emit.cpp).
inline bool has_avx512(const llvm::Function& function) {
  return function.hasFnAttribute("warpgrind-avx512f");
}

class Values {
 public:
  // Emits code before each call of an extern "C" function, from the call's arguments. Empty: none.
  using BeforeCall = std::function<void(llvm::ArrayRef<llvm::Value*>)>;

  // before_call may be set later; copies of this object use it, too.
  Values(llvm::IRBuilder<>& ir, const BeforeCall& before_call) : builder_(&ir), before_call_(&before_call) {}

  llvm::IRBuilder<>& ir() const { return *builder_; }
  llvm::LLVMContext& context() const { return builder_->getContext(); }

  // LLVM type of one value of `type`: integers iN, f16 half, bf16 bfloat, f32 float, f64 double, pred i1, packed types
  // (f16x2 ...) i32.
  llvm::Type* element(ptx::ScalarType type) const;
  // Same bits, another type: bitcast where the sizes agree, else truncation or zero extension of the integer.
  llvm::Value* convert_bits(llvm::Value* value, ptx::ScalarType to) const;

  llvm::Value* splat(llvm::Value* value) const;                // 32 lanes
  llvm::Value* lanes_to_bits(llvm::Value* bool_vector) const;  // <32 x i1> -> i32
  llvm::Value* bits_to_lanes(llvm::Value* bits) const;         // i32 -> <32 x i1>

  llvm::Value* slice(llvm::Value* lanes, unsigned first, unsigned count) const;
  llvm::Value* concatenated(std::vector<llvm::Value*> parts) const;  // a power of two of them, of the same type

  // The address `offset` bytes after a pointer.
  llvm::Value* at(llvm::Value* pointer, std::uint64_t offset) const {
    return builder_->CreateConstInBoundsGEP1_64(builder_->getInt8Ty(), pointer, offset);
  }
  // Plain call of an extern "C" function.
  llvm::Value* call(const char* name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments) const;

 private:
  llvm::IRBuilder<>* builder_;
  const BeforeCall* before_call_;
};

}  // namespace warpgrind::jit
