#include "codegen/kernel/path_stack.h"

#include "base/assert.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;
using ptx::kNoId;

void PathStack::create() {
  const auto variable = [&](const char* name, Value* initial) {
    llvm::AllocaInst* a = f_.entry_alloca(ir_.getInt32Ty(), name);
    ir_.CreateStore(initial, a);
    return a;
  };
  current_ = variable("current", ir_.getInt32(kNoId));
  depth_ = variable("depth", ir_.getInt32(0));
}

void PathStack::place_entries(Value* entries) {
  entries_ =
      entries ? entries : f_.entry_alloca(llvm::ArrayType::get(ir_.getInt32Ty(), kFields * kPathEntries), "stack");
}

Value* PathStack::entry(Value* index) {
  return ir_.CreateMul(ir_.CreateZExt(index, ir_.getInt64Ty()), ir_.getInt64(kFields));
}

Value* PathStack::field(Value* entry, Field field) {
  WG_ASSERT(entries_);
  return ir_.CreateInBoundsGEP(ir_.getInt32Ty(), entries_, ir_.CreateAdd(entry, ir_.getInt64(field)));
}

void PathStack::push(Value* mask, std::uint32_t target, Value* reconverge) {
  WG_ASSERT(target < f_.cfg.exit());
  Value* top = depth();
  Value* at = entry(top);
  ir_.CreateStore(mask, field(at, kMask));
  ir_.CreateStore(ir_.getInt32(target), field(at, kTarget));
  ir_.CreateStore(reconverge, field(at, kReconverge));
  set_depth(ir_.CreateAdd(top, ir_.getInt32(1)));
}

// No entry is pushed if the lanes head for `point` already.
void PathStack::push_reconvergence(std::uint32_t point) {
  WG_ASSERT(point == f_.cfg.exit() || f_.cfg.blocks[point].reachable);
  Value* outer = current();
  BasicBlock* fresh = f_.new_block("push");
  BasicBlock* after = f_.new_block("pushed");
  ir_.CreateCondBr(ir_.CreateICmpEQ(outer, ir_.getInt32(id(point))), after, fresh);
  ir_.SetInsertPoint(fresh);
  if (point != f_.cfg.exit()) push(masks_.active(), point, outer);
  set_current(ir_.getInt32(id(point)));
  ir_.CreateBr(after);
  ir_.SetInsertPoint(after);
}

}  // namespace warpgrind::jit
