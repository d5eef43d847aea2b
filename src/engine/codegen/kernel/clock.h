// Clock of a warp (WarpContext::cycles), in kernels that read %clock, %clock64 or %globaltimer. It shows the estimated
// time of the modelled GPU, never the host's. Every instruction takes the cycles until a dependent one can issue; a
// load takes those of a hit. So a kernel that waits for a number of cycles ends, and it reads the same values in every
// run. Kernels that read no clock pay nothing.
#pragma once

#include "codegen/kernel/function_context.h"

namespace warpgrind::jit {

bool reads_clock(const ptx::Function& function);

class Clock {
 public:
  explicit Clock(FunctionContext& context) : f_(context), ir_(context.ir()) {}
  void pass(const ptx::Instruction& i);  // before `i`: adds its time; stores the sum if `i` may use it
  void write_down();                     // stores the time; at the end of a block
  llvm::Value* cycles();                 // i64, in SM cycles
  llvm::Value* nanoseconds();            // i64

 private:
  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  std::uint32_t slots_ = 0;  // time not stored yet, in units of WarpContext::issue_cycles
};

}  // namespace warpgrind::jit
