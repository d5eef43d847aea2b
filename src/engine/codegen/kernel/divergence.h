// Execution of divergent warps. A split pushes the waiting lanes on a small stack. They continue when the running lanes
// arrive at the branch's reconvergence point (its immediate post-dominator). This class owns the LLVM blocks of the
// function's basic blocks, and the dispatch block, which takes the next stack entry.
#pragma once

#include <vector>

#include "codegen/kernel/path_stack.h"
#include "codegen/kernel/waiting.h"

namespace warpgrind::jit {

class Divergence {
 public:
  Divergence(FunctionContext& context, LaneMasks& masks, PathStack& stack, Waiting& waiting, Regions& regions)
      : f_(context), ir_(context.ir()), masks_(masks), stack_(stack), waiting_(waiting), regions_(regions) {}
  void create();
  void create_blocks();
  void finish();  // call when all blocks are lowered; leaves the function's last block open

  llvm::BasicBlock* body(std::uint32_t block) { return bodies_[block]; }
  llvm::BasicBlock* arrival(std::uint32_t block);     // target of an edge to `block`
  llvm::BasicBlock* leave() { return leave_; }        // the active lanes have returned
  llvm::BasicBlock* dispatch() { return dispatch_; }  // takes the top entry

 private:
  void emit_arrival(std::uint32_t block);
  void emit_dispatch();
  void dispatch_to(llvm::Value* target);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  PathStack& stack_;
  Waiting& waiting_;
  Regions& regions_;
  std::vector<llvm::BasicBlock*> bodies_, arrivals_;
  std::vector<bool> is_reconvergence_, is_resume_;
  llvm::BasicBlock* leave_ = nullptr;
  llvm::BasicBlock* dispatch_ = nullptr;
  llvm::BasicBlock* return_ = nullptr;
};

}  // namespace warpgrind::jit
