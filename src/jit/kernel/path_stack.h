// The lanes of a split warp that wait for their turn. An entry is {mask, target, reconverge}. Two kinds: a pending side
// (target != its reconvergence point; `reconverge` is that point) and a reconvergence entry (target == the point; mask:
// all lanes that meet there; `reconverge`: the outer point). current() is the point that running lanes head for. Every
// push of an entry leaves strictly fewer lanes running, so that 64 entries are enough. A third kind stands for lanes
// that wait on their way (Waiting); the device takes it from anywhere in the stack.
#pragma once

#include "jit/kernel/lane_masks.h"

namespace warpgrind::jit {

class PathStack {
 public:
  static constexpr std::uint32_t kExit = ptx::kNoId - 1;  // lanes that head for the exit: they meet nowhere

  PathStack(FunctionContext& context, LaneMasks& masks) : f_(context), ir_(context.ir()), masks_(masks) {}
  void create();
  void place_entries(llvm::Value* entries);  // [kPathEntries x PathEntry]; null: on the stack of the function

  llvm::Value* current() { return ir_.CreateLoad(ir_.getInt32Ty(), current_); }  // block number; kNoId: none
  llvm::Value* depth() { return ir_.CreateLoad(ir_.getInt32Ty(), depth_); }      // entries
  void set_current(llvm::Value* point) { ir_.CreateStore(point, current_); }
  void set_depth(llvm::Value* depth) { ir_.CreateStore(depth, depth_); }

  void push(llvm::Value* mask, std::uint32_t target, llvm::Value* reconverge);
  void push_reconvergence(std::uint32_t point);  // makes `point` the one that running lanes head for
  // The point of a block as entries name it.
  std::uint32_t id(std::uint32_t point) const { return point == f_.cfg.exit() ? kExit : point; }

  enum Field : unsigned { kMask, kTarget, kReconverge, kFields };
  llvm::Value* entry(llvm::Value* index);               // its first field's number
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
