#include "codegen/kernel/lane_masks.h"

#include "base/assert.h"

namespace warpgrind::jit {

using llvm::Value;

void LaneMasks::create(Value* all) {
  const auto variable = [&](const char* name) {
    llvm::AllocaInst* a = f_.entry_alloca(ir_.getInt32Ty(), name);
    ir_.CreateStore(all, a);
    return a;
  };
  WG_ASSERT(all->getType()->isIntegerTy(32) && !active_);
  active_ = variable("mask");
  live_ = variable("live");
}

Value* LaneMasks::bits() {
  return f_.now.guard ? f_.now.guard : active();
}

Value* LaneMasks::lanes() {
  return f_.bits_to_lanes(bits());
}

Value* LaneMasks::all_on() {
  if (f_.layout.one_row) return ir_.getFalse();
  return ir_.CreateICmpEQ(bits(), ir_.getInt32(kFullMask));
}

Value* LaneMasks::exited() {
  return ir_.CreateLoad(ir_.getInt32Ty(), f_.at(f_.context_argument, offsetof(WarpContext, exited)));
}

Value* LaneMasks::alive() {
  Value* here = ir_.CreateNot(exited());
  return ir_.CreateAnd(
      ir_.CreateLoad(ir_.getInt32Ty(), f_.at(f_.context_argument, offsetof(WarpContext, initial_mask))), here);
}

void LaneMasks::count_exited(Value* lanes) {
  Value* at = f_.at(f_.context_argument, offsetof(WarpContext, exited));
  ir_.CreateStore(ir_.CreateOr(ir_.CreateLoad(ir_.getInt32Ty(), at), lanes), at);
}

void LaneMasks::count_at_end(Value* lanes) {
  if (f_.is_kernel) count_exited(lanes);
}

}  // namespace warpgrind::jit
