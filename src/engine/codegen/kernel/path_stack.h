// Stack of the waiting lanes of a divergent warp. An entry is {mask, target, reconverge}. There are three kinds:
//  - A pending side: target != its reconvergence point; `reconverge` is that point.
//  - A reconvergence entry: target == the point; mask: all lanes that meet there; `reconverge`: the outer point.
//  - Parked lanes, which wait somewhere on their path (Waiting). The device takes such an entry from any depth.
// current() is the point that the running lanes head for. Every push leaves strictly fewer lanes running, so that 64
// entries of the first two kinds are enough.
#pragma once

#include "codegen/kernel/lane_masks.h"

namespace warpgrind::jit {

class PathStack {
 public:
  static constexpr std::uint32_t kExit = ptx::kNoId - 1;  // lanes that head for the exit; they do not meet there

  PathStack(FunctionContext& context, LaneMasks& masks) : f_(context), ir_(context.ir()), masks_(masks) {}
  void create();
  void place_entries(llvm::Value* entries);  // [kPathEntries x PathEntry]; null: allocates them on the function's stack

  llvm::Value* current() { return ir_.CreateLoad(ir_.getInt32Ty(), current_); }  // block number; kNoId: none
  llvm::Value* depth() { return ir_.CreateLoad(ir_.getInt32Ty(), depth_); }      // entries
  void set_current(llvm::Value* point) { ir_.CreateStore(point, current_); }
  void set_depth(llvm::Value* depth) { ir_.CreateStore(depth, depth_); }

  void push(llvm::Value* mask, std::uint32_t target, llvm::Value* reconverge);
  void push_reconvergence(std::uint32_t point);  // the running lanes head for `point` from now on
  // Value that stands for a reconvergence point in entries.
  std::uint32_t id(std::uint32_t point) const { return point == f_.cfg.exit() ? kExit : point; }

  enum Field : unsigned { kMask, kTarget, kReconverge, kFields };
  llvm::Value* entry(llvm::Value* index);               // index of its first field
  llvm::Value* field(llvm::Value* entry, Field field);  // address

 private:
  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  llvm::AllocaInst* current_ = nullptr;
  llvm::AllocaInst* depth_ = nullptr;
  llvm::Value* entries_ = nullptr;
};

}  // namespace warpgrind::jit
