// Which lanes run: those that are active on this path, those that have not returned from this invocation, those that
// have left the kernel.
#pragma once

#include "jit/kernel/function_context.h"

namespace warpgrind::jit {

class LaneMasks {
 public:
  explicit LaneMasks(FunctionContext& context) : f_(context), ir_(context.ir()) {}
  void create(llvm::Value* all);  // the lanes that enter the function

  // All as i32.
  llvm::Value* active() { return ir_.CreateLoad(ir_.getInt32Ty(), active_); }
  llvm::Value* live() { return ir_.CreateLoad(ir_.getInt32Ty(), live_); }
  llvm::Value* bits();    // lanes that execute the current instruction: active, and its guard on
  llvm::Value* lanes();   // the same as <32 x i1>
  llvm::Value* exited();  // lanes of the warp that have left the kernel
  llvm::Value* alive();   // and those that have not

  void set_active(llvm::Value* lanes) { ir_.CreateStore(lanes, active_); }
  void set_live(llvm::Value* lanes) { ir_.CreateStore(lanes, live_); }
  void count_exited(llvm::Value* lanes);  // they have left the kernel
  // Lanes that reach the end of the function, or wait there for others: of a kernel, nobody waits for them any more.
  void count_at_end(llvm::Value* lanes);

 private:
  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  llvm::AllocaInst* active_ = nullptr;
  llvm::AllocaInst* live_ = nullptr;
};

}  // namespace warpgrind::jit
