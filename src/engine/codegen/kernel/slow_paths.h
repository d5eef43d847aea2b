// Machine code that counts the slow paths of exact divisions, reciprocals and roots (jit/calls/slow_paths.h): a test of
// the operands, and a call if one of the active lanes fails it.
#pragma once

#include "codegen/kernel/counting.h"
#include "codegen/kernel/registers.h"

namespace warpgrind::jit {

class SlowPaths {
 public:
  SlowPaths(FunctionContext& context, LaneMasks& masks, Registers& registers, Counting& counting)
      : f_(context), ir_(context.ir()), masks_(masks), registers_(registers), counting_(counting) {}
  void count();  // before the current instruction

 private:
  llvm::Value* word(llvm::Value* bits) const;      // with the exponent
  llvm::Value* exponent(llvm::Value* bits) const;  // biased, without the sign
  llvm::Value* outside(llvm::Value* value, std::uint32_t first, std::uint32_t span) const;
  llvm::Value* leaves_division(llvm::Value* a, llvm::Value* b) const;
  llvm::Value* extreme(llvm::Value* a, llvm::Value* b) const;
  // Continues in a block of its own, entered if the condition holds in an active lane.
  void enter_if(llvm::Value* condition, llvm::BasicBlock* otherwise);
  llvm::Value* stored(llvm::Value* bits, unsigned which);  // address of the 32 lanes' bits

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Registers& registers_;
  Counting& counting_;
  llvm::AllocaInst* areas_[2] = {};
};

}  // namespace warpgrind::jit
