// Masks of the running lanes: active on this path, not yet returned from this invocation, exited from the kernel.
#pragma once

#include "codegen/kernel/function_context.h"

namespace warpgrind::jit {

class LaneMasks {
 public:
  explicit LaneMasks(FunctionContext& context) : f_(context), ir_(context.ir()) {}
  void create(llvm::Value* all);  // the lanes that enter the function

  // All masks are i32.
  llvm::Value* active() { return ir_.CreateLoad(ir_.getInt32Ty(), active_); }
  llvm::Value* live() { return ir_.CreateLoad(ir_.getInt32Ty(), live_); }
  llvm::Value* bits();    // lanes that execute the current instruction: active with guard on
  llvm::Value* lanes();   // the same as <32 x i1>
  llvm::Value* all_on();  // i1: all 32 lanes execute it; constant if the block has too few threads
  llvm::Value* exited();  // lanes of the warp that have left the kernel
  llvm::Value* alive();   // lanes of the warp that have not

  void set_active(llvm::Value* lanes) { ir_.CreateStore(lanes, active_); }
  void set_live(llvm::Value* lanes) { ir_.CreateStore(lanes, live_); }
  void count_exited(llvm::Value* lanes);  // adds lanes that left the kernel
  // For lanes that reach the end of the function, or wait there for others. In a kernel they count as exited, so that
  // no lane waits for them.
  void count_at_end(llvm::Value* lanes);

 private:
  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  llvm::AllocaInst* active_ = nullptr;
  llvm::AllocaInst* live_ = nullptr;
};

}  // namespace warpgrind::jit
