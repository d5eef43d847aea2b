// Lowering of bra, brx.idx, ret, exit and trap, of splits, and of the interrupt poll.
#include "codegen/kernel/branches.h"

#include <algorithm>

#include "base/assert.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;

// i1: some lanes took the branch and some did not.
Value* Branches::went_both_ways(Value* taken, Value* not_taken) {
  Value* none = ir_.getInt32(0);
  return ir_.CreateAnd(ir_.CreateICmpNE(taken, none), ir_.CreateICmpNE(not_taken, none));
}

std::uint32_t Branches::block_at(std::uint32_t instruction) const {
  return instruction < f_.function.body.size() ? f_.cfg.block_of[instruction] : f_.cfg.exit();
}

void Branches::lower(std::uint32_t block) {
  const flow::BasicBlock& b = f_.cfg.blocks[block];
  WG_ASSERT(b.reachable && !f_.now.guard);
  f_.stand_at(b.end - 1);
  const ptx::Instruction& last = f_.instruction();
  switch (last.opcode) {
    case ptx::Opcode::bra:
      lower_branch(block, last);
      return;
    case ptx::Opcode::brx_idx:
      lower_indexed_branch(block, last);
      return;
    case ptx::Opcode::ret:
    case ptx::Opcode::exit:
    case ptx::Opcode::trap:
      lower_exit(block, last);
      return;
    default: {
      const std::uint32_t next = block_at(b.end);
      counting_.record_edge(block, next);
      ir_.CreateBr(divergence_.arrival(next));
    }
  }
}

void Branches::lower_branch(std::uint32_t block, const ptx::Instruction& i) {
  const std::uint32_t target = block_at(f_.function.labels[i.operands.back().index].instruction);
  if (!i.guard) {
    counting_.record_edge(block, target);
    ir_.CreateBr(divergence_.arrival(target));
    return;
  }
  const std::uint32_t fallthrough = block_at(f_.cfg.blocks[block].end);
  WG_ASSERT(f_.cfg.blocks[block].successors.size() <= 2);
  const ptx::Operand p = predicate_of(i.guard);
  if (registers_.is_scalar(p)) {
    Value* condition = registers_.read_scalar(p, ptx::ScalarType::pred);
    Value* mask = masks_.active();
    Value* none = ir_.getInt32(0);
    Value* taken = ir_.CreateSelect(condition, mask, none);
    if (f_.unit.options.counters)
      counting_.count_ways(block, target, taken, fallthrough, ir_.CreateSelect(condition, none, mask));
    if (target == fallthrough) {
      counting_.count_branch(taken, ir_.getFalse());
      ir_.CreateBr(divergence_.arrival(target));
      return;
    }
    Value* counters = counting_.begin_branch();
    ir_.CreateCondBr(condition, counted(counters, mask, divergence_.arrival(target)),
                     counted(counters, nullptr, divergence_.arrival(fallthrough)));
    return;
  }
  Value* bits = f_.lanes_to_bits(registers_.read_vector(p, ptx::ScalarType::pred));
  Value* mask = masks_.active();
  Value* taken = ir_.CreateAnd(mask, bits);
  Value* not_taken = ir_.CreateAnd(mask, ir_.CreateNot(bits));
  counting_.count_ways(block, target, taken, fallthrough, not_taken);
  if (target == fallthrough) {
    counting_.count_branch(taken, went_both_ways(taken, not_taken));
    ir_.CreateBr(divergence_.arrival(target));
    return;
  }
  split(block, taken, not_taken, target, fallthrough);
}

BasicBlock* Branches::counted(Value* counters, Value* taken, BasicBlock* to) {
  if (!counters) return to;
  llvm::IRBuilder<>::InsertPointGuard guard(ir_);
  BasicBlock* way = f_.new_block("way");
  ir_.SetInsertPoint(way);
  counting_.count_way(counters, taken, /*split=*/false);
  ir_.CreateBr(to);
  return way;
}

// Ends the block with a jump if the lanes agree, otherwise with a split.
void Branches::split(std::uint32_t block, Value* taken, Value* not_taken, std::uint32_t target,
                     std::uint32_t fallthrough) {
  WG_ASSERT(f_.analysis.divergent[block] && target != fallthrough);
  Value* counters = counting_.begin_branch();
  BasicBlock* some_taken = f_.new_block("some");
  BasicBlock* mixed = f_.new_block("split");
  ir_.CreateCondBr(ir_.CreateICmpEQ(taken, ir_.getInt32(0)),
                   counted(counters, nullptr, divergence_.arrival(fallthrough)), some_taken);
  ir_.SetInsertPoint(some_taken);
  ir_.CreateCondBr(ir_.CreateICmpEQ(not_taken, ir_.getInt32(0)), counted(counters, taken, divergence_.arrival(target)),
                   mixed);
  ir_.SetInsertPoint(mixed);
  if (counters) counting_.count_way(counters, taken, /*split=*/true);
  const std::uint32_t point = f_.cfg.blocks[block].post_dominator;
  // A side that leaves at once needs no stack entry: its lanes just end.
  const auto leave_now = [&](Value* gone, Value* stay, std::uint32_t next) {
    masks_.count_at_end(gone);
    masks_.set_live(ir_.CreateAnd(masks_.live(), ir_.CreateNot(gone)));
    masks_.set_active(stay);
    ir_.CreateBr(divergence_.arrival(next));
  };
  if (target == f_.cfg.exit()) return leave_now(taken, not_taken, fallthrough);
  if (fallthrough == f_.cfg.exit()) return leave_now(not_taken, taken, target);
  stack_.push_reconvergence(point);
  if (fallthrough == point || target == point) arrive_at_once(point, fallthrough == point ? not_taken : taken);
  if (fallthrough == point) {
    masks_.set_active(taken);
    ir_.CreateBr(divergence_.arrival(target));
  } else if (target == point) {
    masks_.set_active(not_taken);
    ir_.CreateBr(divergence_.arrival(fallthrough));
  } else {
    if (flow::leads_only_out(f_.function, f_.cfg, target)) masks_.count_at_end(taken);
    if (flow::leads_only_out(f_.function, f_.cfg, fallthrough)) masks_.count_at_end(not_taken);
    stack_.push(not_taken, fallthrough, ir_.getInt32(stack_.id(point)));
    masks_.set_active(taken);
    ir_.CreateBr(divergence_.arrival(target));
  }
}

void Branches::lower_indexed_branch(std::uint32_t block, const ptx::Instruction& i) {
  if (i.guard) return f_.unsupported("a guarded brx.idx");
  const ptx::Table& table = f_.function.tables[i.operands.back().index];
  std::vector<std::uint32_t> targets;
  for (ptx::LabelId label : table.labels) targets.push_back(block_at(f_.function.labels[label].instruction));
  if (registers_.is_scalar(i.operands[0]))
    jump_by_index(block, registers_.read_scalar(i.operands[0], ptx::ScalarType::u32), targets);
  else
    split_by_index(block, registers_.read_vector(i.operands[0], ptx::ScalarType::u32), targets);
}

// Lanes that go to each successor. Table entries with the same target are one side. `lanes_of(k)`: lanes whose index is
// k.
std::vector<Value*> Branches::sides_of(std::uint32_t block, const std::vector<std::uint32_t>& targets,
                                       llvm::function_ref<Value*(std::uint32_t)> lanes_of) {
  std::vector<Value*> sides;
  for (std::uint32_t successor : f_.cfg.blocks[block].successors) {
    Value* lanes = ir_.getInt32(0);
    for (std::uint32_t k = 0; k < targets.size(); ++k)
      if (targets[k] == successor) lanes = ir_.CreateOr(lanes, lanes_of(k));
    sides.push_back(lanes);
  }
  return sides;
}

void Branches::count_sides(std::uint32_t block, const std::vector<Value*>& sides) {
  Value* mask = masks_.active();
  Value* split = ir_.getInt1(false);
  for (Value* lanes : sides) split = ir_.CreateOr(split, went_both_ways(lanes, ir_.CreateXor(mask, lanes)));
  counting_.count_branch(mask, split);
  for (std::size_t k = 0; k < sides.size(); ++k)
    counting_.count_edge(block, f_.cfg.blocks[block].successors[k], sides[k]);
}

void Branches::leave_table(Value* lanes) {
  f_.call("wg_bad_branch_index", ir_.getVoidTy(), {f_.context_argument, sites_.number(), lanes});
  ir_.CreateUnreachable();
}

void Branches::jump_by_index(std::uint32_t block, Value* index, const std::vector<std::uint32_t>& targets) {
  Value* all = masks_.active();
  count_sides(block, sides_of(block, targets, [&](std::uint32_t k) {
                return ir_.CreateSelect(ir_.CreateICmpEQ(index, ir_.getInt32(k)), all, ir_.getInt32(0));
              }));
  BasicBlock* outside = f_.new_block("outside");
  llvm::SwitchInst* jump = ir_.CreateSwitch(index, outside, static_cast<unsigned>(targets.size()));
  for (std::uint32_t k = 0; k < targets.size(); ++k) jump->addCase(ir_.getInt32(k), divergence_.arrival(targets[k]));
  ir_.SetInsertPoint(outside);
  leave_table(all);
}

// Pushes every side that has lanes, then takes the top one.
void Branches::split_by_index(std::uint32_t block, Value* index, const std::vector<std::uint32_t>& targets) {
  WG_ASSERT(f_.analysis.divergent[block] || f_.cfg.blocks[block].successors.size() < 2);
  Value* mask = masks_.active();
  const std::vector<Value*> sides = sides_of(block, targets, [&](std::uint32_t k) {
    return ir_.CreateAnd(mask, f_.lanes_to_bits(ir_.CreateICmpEQ(index, f_.splat(ir_.getInt32(k)))));
  });
  count_sides(block, sides);
  Value* size = f_.splat(ir_.getInt32(static_cast<std::uint32_t>(targets.size())));
  Value* bad = ir_.CreateAnd(mask, f_.lanes_to_bits(ir_.CreateICmpUGE(index, size)));
  BasicBlock* outside = f_.new_block("outside");
  BasicBlock* inside = f_.new_block("inside");
  ir_.CreateCondBr(ir_.CreateICmpEQ(bad, ir_.getInt32(0)), inside, outside);
  ir_.SetInsertPoint(outside);
  leave_table(bad);
  ir_.SetInsertPoint(inside);
  const std::uint32_t point = f_.cfg.blocks[block].post_dominator;
  WG_ASSERT(sides.size() == f_.cfg.blocks[block].successors.size());
  stack_.push_reconvergence(point);
  for (std::size_t k = 0; k < sides.size(); ++k) {
    const std::uint32_t target = f_.cfg.blocks[block].successors[k];
    if (target == point) {
      arrive_at_once(point, sides[k]);
      continue;
    }
    BasicBlock* some = f_.new_block("side");
    BasicBlock* next = f_.new_block("next");
    ir_.CreateCondBr(ir_.CreateICmpNE(sides[k], ir_.getInt32(0)), some, next);
    ir_.SetInsertPoint(some);
    stack_.push(sides[k], target, ir_.getInt32(stack_.id(point)));
    ir_.CreateBr(next);
    ir_.SetInsertPoint(next);
  }
  ir_.CreateBr(divergence_.dispatch());
}

// Arrival of a side without code of its own. If the sides meet at the end of a kernel, no lane waits for these any
// more.
void Branches::arrive_at_once(std::uint32_t point, Value* lanes) {
  const bool leaves = point == f_.cfg.exit();
  if (leaves || flow::only_leaves(f_.function, f_.cfg.blocks[point])) masks_.count_at_end(lanes);
  if (leaves) masks_.set_live(ir_.CreateAnd(masks_.live(), ir_.CreateNot(lanes)));
}

void Branches::lower_exit(std::uint32_t block, const ptx::Instruction& i) {
  const bool ends_thread = i.opcode == ptx::Opcode::exit || (i.opcode == ptx::Opcode::ret && f_.is_kernel);
  const auto leave = [&](Value* lanes) {
    if (i.opcode == ptx::Opcode::trap) {
      f_.call("wg_trap", ir_.getVoidTy(), {f_.context_argument, sites_.number(), lanes});
      return;
    }
    if (!ends_thread) return;
    if (f_.unit.options.synchronization)
      f_.call("wg_exit", ir_.getVoidTy(), {f_.context_argument, sites_.number(), lanes});
    masks_.count_exited(lanes);
  };
  if (!i.guard) {
    counting_.record_edge(block, f_.cfg.exit());
    leave(masks_.active());
    ir_.CreateBr(divergence_.leave());
    return;
  }
  const std::uint32_t following = block_at(f_.cfg.blocks[block].end);
  BasicBlock* next = divergence_.arrival(following);
  const ptx::Operand p = predicate_of(i.guard);
  BasicBlock* go = f_.new_block("exit");
  if (registers_.is_scalar(p)) {
    Value* condition = registers_.read_scalar(p, ptx::ScalarType::pred);
    Value* all = masks_.active();
    counting_.count_ways(block, f_.cfg.exit(), ir_.CreateSelect(condition, all, ir_.getInt32(0)), following,
                         ir_.CreateSelect(condition, ir_.getInt32(0), all));
    ir_.CreateCondBr(condition, go, next);
    ir_.SetInsertPoint(go);
    leave(masks_.active());
    ir_.CreateBr(divergence_.leave());
    return;
  }
  Value* mask = masks_.active();
  Value* out = ir_.CreateAnd(mask, f_.lanes_to_bits(registers_.read_vector(p, ptx::ScalarType::pred)));
  counting_.count_ways(block, f_.cfg.exit(), out, following, ir_.CreateAnd(mask, ir_.CreateNot(out)));
  ir_.CreateCondBr(ir_.CreateICmpNE(out, ir_.getInt32(0)), go, next);
  ir_.SetInsertPoint(go);
  leave(out);
  Value* stay = ir_.CreateAnd(mask, ir_.CreateNot(out));
  BasicBlock* all = f_.new_block("all_exit");
  BasicBlock* some = f_.new_block("some_exit");
  ir_.CreateCondBr(ir_.CreateICmpEQ(stay, ir_.getInt32(0)), all, some);
  ir_.SetInsertPoint(all);
  ir_.CreateBr(divergence_.leave());
  ir_.SetInsertPoint(some);
  masks_.set_live(ir_.CreateAnd(masks_.live(), ir_.CreateNot(out)));
  masks_.set_active(stay);
  ir_.CreateBr(next);
}

void Branches::begin_block(std::uint32_t block) {
  const bool head = f_.cfg.blocks[block].loop_head;
  const bool calls = std::any_of(f_.function.body.begin(), f_.function.body.end(),
                                 [](const ptx::Instruction& i) { return i.opcode == ptx::Opcode::call; });
  if (head || (calls && !f_.is_kernel && block == f_.cfg.order.front())) poll(block);
  if (head && f_.analysis.spin_head[block]) waiting_.spin_turn(block);
}

void Branches::poll(std::uint32_t block) {
  Value* flag = f_.context_field(offsetof(WarpContext, interrupt), ir_.getPtrTy(), "interrupt");
  Value* wanted = ir_.CreateLoad(ir_.getInt32Ty(), flag, /*isVolatile=*/true);
  BasicBlock* stop = f_.new_block("interrupted");
  BasicBlock* go_on = f_.new_block("not_interrupted");
  ir_.CreateCondBr(ir_.CreateICmpEQ(wanted, ir_.getInt32(0)), go_on, stop);
  ir_.SetInsertPoint(stop);
  f_.stand_at(f_.cfg.blocks[block].first);
  f_.call("wg_interrupt", ir_.getVoidTy(), {f_.context_argument, sites_.number(), masks_.active()});
  ir_.CreateBr(go_on);
  ir_.SetInsertPoint(go_on);
}

}  // namespace warpgrind::jit
