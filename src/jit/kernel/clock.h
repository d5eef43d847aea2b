// The time of a warp (WarpContext::cycles), in kernels that read %clock, %clock64 or %globaltimer. It is that of the
// modelled GPU (estimated), never that of the machine that runs it: every instruction takes the cycles after which a
// dependent one can follow, a load those of a hit. So a kernel that waits for a number of cycles ends, and what it
// reads is the same at every run. Kernels that read no clock pay nothing.
#pragma once

#include "jit/kernel/function_context.h"

namespace warpgrind::jit {

bool reads_clock(const ptx::Function& function);

class Clock {
 public:
  explicit Clock(FunctionContext& context) : f_(context), ir_(context.ir()) {}
  void pass(const ptx::Instruction& i);  // before it: its time, written down where somebody may look
  void write_down();                     // at the end of a block
  llvm::Value* cycles();                 // i64, of the SM
  llvm::Value* nanoseconds();            // i64

 private:
  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  std::uint32_t slots_ = 0;  // time that is not written down yet, in units of WarpContext::issue_cycles
};

}  // namespace warpgrind::jit
