// Tiny results of .ftz operations: whether the host's CPU flushes them, and which registers never hold subnormals.
//
// In machine code a .ftz product takes twelve instructions for 16 lanes: flushing of its sources, the product, and the
// same again at another scale to see whether the result is tiny. The host's CPU flushes results by the same rule (tiny
// after rounding with an unbounded exponent) if bit FTZ of MXCSR is set. The bit also flushes results of doubles and of
// operations without .ftz, so only kernels without them use it. (LU decomposition of Rodinia: 0.6 of the time.)
// Bit DAZ does the same to subnormal sources, for multiply-adds only: LLVM may take x * 1 and x - 0 for x itself.
#pragma once

#include <vector>

#include "codegen/kernel/function_context.h"

namespace warpgrind::jit {

class TinyResults {
 public:
  explicit TinyResults(const FunctionContext& context);
  // Sets bits FTZ and DAZ at the start of the kernel, if they may be set. They stay set until the worker ends the
  // launch.
  void begin(FunctionContext& context) const;
  bool never_subnormal(const ptx::Operand& operand) const;

 private:
  std::vector<bool> flushed_;  // by register: each write flushes
};

// Whether the host's CPU flushes f32 results in the function that is lowered.
bool host_flushes(const llvm::Function& function);
// Whether it also takes subnormal sources of the instruction for zero.
bool host_flushes_sources(const llvm::Function& function, const ptx::Instruction& instruction);

}  // namespace warpgrind::jit
