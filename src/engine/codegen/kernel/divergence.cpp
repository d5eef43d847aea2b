// Arrival at reconvergence points, and the dispatch to the next stack entry.
#include "codegen/kernel/divergence.h"

#include "base/assert.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;

void Divergence::create() {
  stack_.create();
  stack_.place_entries(f_.wait_points.any() ? waiting_.create() : nullptr);
  is_reconvergence_.assign(f_.cfg.blocks.size(), false);
  is_resume_.assign(f_.cfg.blocks.size(), false);
  leave_ = f_.new_block("leave");
  return_ = f_.new_block("return");
  dispatch_ = f_.new_block("dispatch");
  for (std::uint32_t b : f_.cfg.order) {
    if (!f_.analysis.divergent[b]) continue;
    const std::uint32_t point = f_.cfg.blocks[b].post_dominator;
    WG_ASSERT(point == f_.cfg.exit() || f_.cfg.blocks[point].reachable);
    if (point != f_.cfg.exit()) is_reconvergence_[point] = is_resume_[point] = true;
    for (std::uint32_t s : f_.cfg.blocks[b].successors)
      if (s != f_.cfg.exit()) is_resume_[s] = true;
  }
}

void Divergence::create_blocks() {
  bodies_.assign(f_.cfg.blocks.size(), nullptr);
  arrivals_.assign(f_.cfg.blocks.size(), nullptr);
  for (std::uint32_t b : f_.cfg.order) {
    bodies_[b] = f_.new_block("b" + std::to_string(b));
    if (is_reconvergence_[b]) arrivals_[b] = f_.new_block("r" + std::to_string(b));
  }
  regions_.begin(arrival(0));
  for (std::uint32_t b : f_.cfg.order)
    if (arrivals_[b]) emit_arrival(b);
}

BasicBlock* Divergence::arrival(std::uint32_t block) {
  if (block == f_.cfg.exit()) return leave_;
  WG_ASSERT(bodies_[block]);
  return arrivals_[block] ? arrivals_[block] : bodies_[block];
}

// Lanes arrive at a reconvergence point. If it is the point that they head for, the top stack entry runs next.
void Divergence::emit_arrival(std::uint32_t block) {
  llvm::IRBuilder<>::InsertPointGuard guard(ir_);
  ir_.SetInsertPoint(arrivals_[block]);
  Value* here = ir_.CreateICmpEQ(stack_.current(), ir_.getInt32(block));
  if (!flow::only_leaves(f_.function, f_.cfg.blocks[block])) {
    ir_.CreateCondBr(here, dispatch_, bodies_[block]);
    return;
  }
  BasicBlock* wait = f_.new_block("end");
  ir_.CreateCondBr(here, wait, bodies_[block]);
  ir_.SetInsertPoint(wait);
  masks_.count_at_end(masks_.active());
  ir_.CreateBr(dispatch_);
}

void Divergence::dispatch_to(Value* target) {
  BasicBlock* impossible = f_.new_block("impossible");
  llvm::SwitchInst* jump = ir_.CreateSwitch(target, impossible, 8);
  for (std::uint32_t b : f_.cfg.order)
    if (is_resume_[b]) jump->addCase(ir_.getInt32(b), bodies_[b]);
  for (std::uint32_t p = 0; p < waiting_.places().size(); ++p)
    jump->addCase(ir_.getInt32(kParkedPath | p), waiting_.places()[p]);
  ir_.SetInsertPoint(impossible);
  ir_.CreateUnreachable();
}

// Takes the top entry; entries whose lanes have all returned are skipped.
void Divergence::emit_dispatch() {
  llvm::Type* i32 = ir_.getInt32Ty();
  ir_.SetInsertPoint(dispatch_);
  Value* depth = stack_.depth();
  BasicBlock* take = f_.new_block("take");
  BasicBlock* go = f_.new_block("go");
  ir_.CreateCondBr(ir_.CreateICmpEQ(depth, ir_.getInt32(0)), return_, take);
  ir_.SetInsertPoint(take);
  Value* top = ir_.CreateSub(depth, ir_.getInt32(1));
  stack_.set_depth(top);
  Value* entry = stack_.entry(top);
  const auto get = [&](PathStack::Field field) { return ir_.CreateLoad(i32, stack_.field(entry, field)); };
  Value* target = get(PathStack::kTarget);
  if (f_.wait_points.any()) {
    BasicBlock* waits = f_.new_block("waits");
    BasicBlock* plain = f_.new_block("plain");
    ir_.CreateCondBr(ir_.CreateICmpSLT(target, ir_.getInt32(0)), waits, plain);
    ir_.SetInsertPoint(waits);
    waiting_.next_path(depth);
    ir_.SetInsertPoint(plain);
  }
  Value* mask = ir_.CreateAnd(get(PathStack::kMask), masks_.live());
  stack_.set_current(get(PathStack::kReconverge));
  masks_.set_active(mask);
  ir_.CreateCondBr(ir_.CreateICmpEQ(mask, ir_.getInt32(0)), dispatch_, go);
  ir_.SetInsertPoint(go);
  dispatch_to(target);
}

void Divergence::finish() {
  WG_ASSERT(leave_->empty() && dispatch_->empty() && return_->empty());
  ir_.SetInsertPoint(leave_);
  masks_.count_at_end(masks_.active());
  Value* left = ir_.CreateAnd(masks_.live(), ir_.CreateNot(masks_.active()));
  masks_.set_live(left);
  ir_.CreateBr(dispatch_);
  emit_dispatch();
  if (f_.wait_points.any()) dispatch_to(waiting_.go_on());
  ir_.SetInsertPoint(return_);
}

}  // namespace warpgrind::jit
