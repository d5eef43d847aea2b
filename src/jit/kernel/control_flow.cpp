// FunctionLowering: divergence. A split pushes the lanes that wait on a small stack; they go on when the lanes that run
// arrive at the branch's reconvergence point (its immediate post-dominator). A branch on which all active lanes agree
// is a plain jump.
//
// Stack entry {mask, target, reconverge}. Two kinds: a pending side (target != its reconvergence point; `reconverge` is
// that point) and a reconvergence entry (target == the point; mask: all lanes that meet there; `reconverge`: the outer
// point). current_ is the point that running lanes head for. Every push of an entry leaves strictly fewer lanes
// running, so that 64 entries are enough. A third kind stands for lanes that wait on their way (waiting.cpp); the
// device takes it from anywhere in the stack.
#include <llvm/IR/Constants.h>

#include "jit/kernel/function_lowering.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;
using ptx::kNoId;

void FunctionLowering::create_divergence_state() {
  llvm::Type* i32 = ir_.getInt32Ty();
  const auto variable = [&](const char* name, Value* initial) {
    llvm::AllocaInst* a = entry_alloca(i32, name);
    ir_.CreateStore(initial, a);
    return a;
  };
  mask_ = variable("mask", mask_argument_);
  live_ = variable("live", mask_argument_);
  current_ = variable("current", ir_.getInt32(kNoId));
  depth_ = variable("depth", ir_.getInt32(0));
  if (wait_points_.any())
    create_paths();
  else
    stack_ = entry_alloca(llvm::ArrayType::get(i32, 3 * kPathEntries), "stack");
  is_reconvergence_.assign(cfg_.blocks.size(), false);
  is_resume_.assign(cfg_.blocks.size(), false);
  leave_ = BasicBlock::Create(context(), "leave", llvm_function_);
  return_ = BasicBlock::Create(context(), "return", llvm_function_);
  dispatch_ = BasicBlock::Create(context(), "dispatch", llvm_function_);
  for (std::uint32_t b : cfg_.order) {
    if (!analysis_.divergent[b]) continue;
    const std::uint32_t point = cfg_.blocks[b].post_dominator;
    if (point != cfg_.exit()) is_reconvergence_[point] = is_resume_[point] = true;
    for (std::uint32_t s : cfg_.blocks[b].successors)
      if (s != cfg_.exit()) is_resume_[s] = true;
  }
}

BasicBlock* FunctionLowering::arrival(std::uint32_t block) {
  if (block == cfg_.exit()) return leave_;
  return arrivals_[block] ? arrivals_[block] : bodies_[block];
}

// Lanes arrive at a reconvergence point: when it is the one they head for, the top entry goes on.
void FunctionLowering::emit_arrival(std::uint32_t block) {
  llvm::IRBuilder<>::InsertPointGuard guard(ir_);
  ir_.SetInsertPoint(arrivals_[block]);
  Value* here = ir_.CreateICmpEQ(ir_.CreateLoad(ir_.getInt32Ty(), current_), ir_.getInt32(block));
  if (!flow::only_leaves(function_, cfg_.blocks[block])) {
    ir_.CreateCondBr(here, dispatch_, bodies_[block]);
    return;
  }
  BasicBlock* wait = BasicBlock::Create(context(), "end", llvm_function_);
  ir_.CreateCondBr(here, wait, bodies_[block]);
  ir_.SetInsertPoint(wait);
  count_exited(active());
  ir_.CreateBr(dispatch_);
}

void FunctionLowering::push(Value* mask, std::uint32_t target, Value* reconverge) {
  Value* depth = ir_.CreateLoad(ir_.getInt32Ty(), depth_);
  Value* at = ir_.CreateMul(ir_.CreateZExt(depth, ir_.getInt64Ty()), ir_.getInt64(3));
  const auto put = [&](unsigned field, Value* value) {
    ir_.CreateStore(value, ir_.CreateInBoundsGEP(ir_.getInt32Ty(), stack_, ir_.CreateAdd(at, ir_.getInt64(field))));
  };
  put(0, mask);
  put(1, ir_.getInt32(target));
  put(2, reconverge);
  ir_.CreateStore(ir_.CreateAdd(depth, ir_.getInt32(1)), depth_);
}

// Makes `point` the one that running lanes head for, unless it is already.
void FunctionLowering::push_reconvergence(std::uint32_t point) {
  Value* current = ir_.CreateLoad(ir_.getInt32Ty(), current_);
  const std::uint32_t id = point == cfg_.exit() ? kNoId - 1 : point;
  BasicBlock* fresh = BasicBlock::Create(context(), "push", llvm_function_);
  BasicBlock* after = BasicBlock::Create(context(), "pushed", llvm_function_);
  ir_.CreateCondBr(ir_.CreateICmpEQ(current, ir_.getInt32(id)), after, fresh);
  ir_.SetInsertPoint(fresh);
  if (point != cfg_.exit()) push(active(), point, current);  // lanes that head for the exit meet nowhere
  ir_.CreateStore(ir_.getInt32(id), current_);
  ir_.CreateBr(after);
  ir_.SetInsertPoint(after);
}

void FunctionLowering::dispatch_to(Value* target) {
  BasicBlock* impossible = BasicBlock::Create(context(), "impossible", llvm_function_);
  llvm::SwitchInst* jump = ir_.CreateSwitch(target, impossible, 8);
  for (std::uint32_t b : cfg_.order)
    if (is_resume_[b]) jump->addCase(ir_.getInt32(b), bodies_[b]);
  for (std::uint32_t p = 0; p < places_.size(); ++p) jump->addCase(ir_.getInt32(kParkedPath | p), places_[p]);
  ir_.SetInsertPoint(impossible);
  ir_.CreateUnreachable();
}

// Takes the top entry; entries whose lanes have all returned are skipped.
void FunctionLowering::emit_dispatch() {
  llvm::Type* i32 = ir_.getInt32Ty();
  ir_.SetInsertPoint(dispatch_);
  Value* depth = ir_.CreateLoad(i32, depth_);
  BasicBlock* take = BasicBlock::Create(context(), "take", llvm_function_);
  BasicBlock* go = BasicBlock::Create(context(), "go", llvm_function_);
  ir_.CreateCondBr(ir_.CreateICmpEQ(depth, ir_.getInt32(0)), return_, take);
  ir_.SetInsertPoint(take);
  Value* top = ir_.CreateSub(depth, ir_.getInt32(1));
  ir_.CreateStore(top, depth_);
  Value* at = ir_.CreateMul(ir_.CreateZExt(top, ir_.getInt64Ty()), ir_.getInt64(3));
  const auto get = [&](unsigned field) {
    return ir_.CreateLoad(i32, ir_.CreateInBoundsGEP(i32, stack_, ir_.CreateAdd(at, ir_.getInt64(field))));
  };
  Value* target = get(1);
  if (paths_) {
    BasicBlock* waits = BasicBlock::Create(context(), "waits", llvm_function_);
    BasicBlock* plain = BasicBlock::Create(context(), "plain", llvm_function_);
    ir_.CreateCondBr(ir_.CreateICmpSLT(target, ir_.getInt32(0)), waits, plain);
    ir_.SetInsertPoint(waits);
    put_paths();
    ir_.CreateStore(depth, paths_field(offsetof(Paths, depth)));
    ir_.CreateStore(ir_.getInt32(0), paths_field(offsetof(Paths, mask)));  // who ran is waiting, or gone
    call("wg_next_path", ir_.getVoidTy(), {context_argument_, paths_});
    ir_.CreateBr(go_on_);
    ir_.SetInsertPoint(plain);
  }
  Value* mask = ir_.CreateAnd(get(0), ir_.CreateLoad(i32, live_));
  ir_.CreateStore(get(2), current_);
  ir_.CreateStore(mask, mask_);
  ir_.CreateCondBr(ir_.CreateICmpEQ(mask, ir_.getInt32(0)), dispatch_, go);
  ir_.SetInsertPoint(go);
  dispatch_to(target);
}

// Lanes that reach the end of the kernel, or wait there for others: nobody waits for them any more.
void FunctionLowering::count_exited(Value* lanes) {
  if (!is_kernel_) return;
  Value* at = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), context_argument_, offsetof(WarpContext, exited));
  ir_.CreateStore(ir_.CreateOr(ir_.CreateLoad(ir_.getInt32Ty(), at), lanes), at);
}

// All lanes of mask_ have returned.
void FunctionLowering::emit_leave_block() {
  ir_.SetInsertPoint(leave_);
  count_exited(active());
  Value* left = ir_.CreateAnd(ir_.CreateLoad(ir_.getInt32Ty(), live_), ir_.CreateNot(active()));
  ir_.CreateStore(left, live_);
  ir_.CreateBr(dispatch_);
  emit_dispatch();
  emit_go_on();
  ir_.SetInsertPoint(return_);
  if (!is_kernel_ && frame_base_)
    ir_.CreateStore(frame_base_, ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), context_argument_,
                                                                offsetof(WarpContext, local_top)));
  ir_.CreateRetVoid();
}

void FunctionLowering::count_branch(const ptx::Instruction& i, Value* taken, Value* not_taken) {
  if (!unit_.options.counters) return;
  events::BranchFacts facts;
  facts.instruction = instruction_index_;
  facts.ptx_line = i.range.line;
  facts.function = function_.name;
  if (i.location != kNoId) {
    facts.line = function_.locations[i.location].line;
    facts.file = function_.locations[i.location].file;
  }
  // Slot numbers are relative to the branch part, whose start is known only when all blocks are counted: a global
  // constant.
  llvm::GlobalVariable* base = unit_.llvm->getGlobalVariable("wg_branch_base", true);
  Value* first = ir_.CreateAdd(ir_.CreateLoad(ir_.getInt64Ty(), base), ir_.getInt64(3 * unit_.facts.branches.size()));
  unit_.facts.branches.push_back(facts);
  const auto add = [&](unsigned field, Value* amount) {
    bump(scoreboard_slot(ir_.CreateAdd(first, ir_.getInt64(field))), ir_.CreateZExt(amount, ir_.getInt64Ty()));
  };
  add(0, ir_.getInt32(1));
  if (taken && not_taken) {
    Value* split =
        ir_.CreateAnd(ir_.CreateICmpNE(taken, ir_.getInt32(0)), ir_.CreateICmpNE(not_taken, ir_.getInt32(0)));
    add(1, ir_.CreateZExt(split, ir_.getInt32Ty()));
    add(2, ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, taken));
  }
}

void FunctionLowering::lower_terminator(std::uint32_t block) {
  const flow::BasicBlock& b = cfg_.blocks[block];
  instruction_index_ = b.end - 1;
  const ptx::Instruction& last = function_.body[instruction_index_];
  instruction_ = &last;
  guard_bits_ = nullptr;
  site_ = kNoId;
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
      const std::uint32_t next = b.end < function_.body.size() ? cfg_.block_of[b.end] : cfg_.exit();
      record_edge(block, next);
      ir_.CreateBr(arrival(next));
    }
  }
}

void FunctionLowering::count_ways(std::uint32_t block, std::uint32_t target, Value* taken, std::uint32_t fallthrough,
                                  Value* not_taken) {
  if (target == fallthrough) return record_edge(block, target);
  count_edge(block, target, taken);
  count_edge(block, fallthrough, not_taken);
}

void FunctionLowering::lower_branch(std::uint32_t block, const ptx::Instruction& i) {
  const auto block_at = [&](std::uint32_t n) { return n < function_.body.size() ? cfg_.block_of[n] : cfg_.exit(); };
  const std::uint32_t target = block_at(function_.labels[i.operands.back().index].instruction);
  if (!i.guard) {
    record_edge(block, target);
    ir_.CreateBr(arrival(target));
    return;
  }
  const std::uint32_t fallthrough = block_at(cfg_.blocks[block].end);
  ptx::Operand p;
  p.kind = ptx::OperandKind::reg;
  p.index = i.guard.reg;
  p.negated = i.guard.negated;
  if (is_scalar(p)) {
    Value* condition = read_scalar(p, ptx::ScalarType::pred);
    if (unit_.options.counters) {
      Value* mask = active();
      Value* none = ir_.getInt32(0);
      Value* taken = ir_.CreateSelect(condition, mask, none);
      Value* not_taken = ir_.CreateSelect(condition, none, mask);
      count_branch(i, taken, not_taken);
      count_ways(block, target, taken, fallthrough, not_taken);
    }
    if (target == fallthrough)
      ir_.CreateBr(arrival(target));
    else
      ir_.CreateCondBr(condition, arrival(target), arrival(fallthrough));
    return;
  }
  Value* bits = lanes_to_bits(read_vector(p, ptx::ScalarType::pred));
  Value* mask = active();
  Value* taken = ir_.CreateAnd(mask, bits);
  Value* not_taken = ir_.CreateAnd(mask, ir_.CreateNot(bits));
  count_branch(i, taken, not_taken);
  count_ways(block, target, taken, fallthrough, not_taken);
  if (target == fallthrough) {
    ir_.CreateBr(arrival(target));
    return;
  }
  split(block, taken, not_taken, target, fallthrough);
}

// Ends the block with a jump for agreeing lanes, or a split.
void FunctionLowering::split(std::uint32_t block, Value* taken, Value* not_taken, std::uint32_t target,
                             std::uint32_t fallthrough) {
  BasicBlock* some_taken = BasicBlock::Create(context(), "some", llvm_function_);
  BasicBlock* mixed = BasicBlock::Create(context(), "split", llvm_function_);
  ir_.CreateCondBr(ir_.CreateICmpEQ(taken, ir_.getInt32(0)), arrival(fallthrough), some_taken);
  ir_.SetInsertPoint(some_taken);
  ir_.CreateCondBr(ir_.CreateICmpEQ(not_taken, ir_.getInt32(0)), arrival(target), mixed);
  ir_.SetInsertPoint(mixed);
  const std::uint32_t point = cfg_.blocks[block].post_dominator;
  // A side that leaves at once needs no entry: its lanes are simply gone.
  const auto leave_now = [&](Value* gone, Value* stay, std::uint32_t next) {
    count_exited(gone);
    ir_.CreateStore(ir_.CreateAnd(ir_.CreateLoad(ir_.getInt32Ty(), live_), ir_.CreateNot(gone)), live_);
    ir_.CreateStore(stay, mask_);
    ir_.CreateBr(arrival(next));
  };
  if (target == cfg_.exit()) return leave_now(taken, not_taken, fallthrough);
  if (fallthrough == cfg_.exit()) return leave_now(not_taken, taken, target);
  push_reconvergence(point);
  const std::uint32_t id = point == cfg_.exit() ? kNoId - 1 : point;
  if (point != cfg_.exit() && flow::only_leaves(function_, cfg_.blocks[point]) &&
      (fallthrough == point || target == point))
    count_exited(fallthrough == point ? not_taken : taken);
  if (fallthrough == point) {
    ir_.CreateStore(taken, mask_);
    ir_.CreateBr(arrival(target));
  } else if (target == point) {
    ir_.CreateStore(not_taken, mask_);
    ir_.CreateBr(arrival(fallthrough));
  } else {
    push(not_taken, fallthrough, ir_.getInt32(id));
    ir_.CreateStore(taken, mask_);
    ir_.CreateBr(arrival(target));
  }
}

void FunctionLowering::lower_indexed_branch(std::uint32_t block, const ptx::Instruction& i) {
  if (i.guard) return unsupported("a guarded brx.idx");
  const auto block_at = [&](std::uint32_t n) { return n < function_.body.size() ? cfg_.block_of[n] : cfg_.exit(); };
  const ptx::Table& table = function_.tables[i.operands.back().index];
  count_branch(i, nullptr, nullptr);
  const auto count_sides = [&](auto&& lanes_of) {
    for (std::uint32_t target : cfg_.blocks[block].successors) {
      Value* lanes = ir_.getInt32(0);
      for (std::uint32_t k = 0; k < table.labels.size(); ++k)
        if (block_at(function_.labels[table.labels[k]].instruction) == target) lanes = ir_.CreateOr(lanes, lanes_of(k));
      count_edge(block, target, lanes);
    }
  };
  if (is_scalar(i.operands[0])) {
    Value* index = read_scalar(i.operands[0], ptx::ScalarType::u32);
    Value* all = active();
    count_sides([&](std::uint32_t k) {
      return ir_.CreateSelect(ir_.CreateICmpEQ(index, ir_.getInt32(k)), all, ir_.getInt32(0));
    });
    BasicBlock* outside = BasicBlock::Create(context(), "outside", llvm_function_);
    llvm::SwitchInst* jump = ir_.CreateSwitch(index, outside, static_cast<unsigned>(table.labels.size()));
    for (std::uint32_t k = 0; k < table.labels.size(); ++k)
      jump->addCase(ir_.getInt32(k), arrival(block_at(function_.labels[table.labels[k]].instruction)));
    ir_.SetInsertPoint(outside);
    call("wg_bad_branch_index", ir_.getVoidTy(), {context_argument_, site_number(), all});
    ir_.CreateUnreachable();
    return;
  }
  // Push every side that has lanes, then take the top one.
  Value* index = read_vector(i.operands[0], ptx::ScalarType::u32);
  const std::uint32_t point = cfg_.blocks[block].post_dominator;
  const std::uint32_t id = point == cfg_.exit() ? kNoId - 1 : point;
  Value* mask = active();
  const auto side_of = [&](std::uint32_t k) {
    return ir_.CreateAnd(mask, lanes_to_bits(ir_.CreateICmpEQ(index, splat(ir_.getInt32(k)))));
  };
  count_sides(side_of);
  Value* bad = ir_.CreateAnd(mask, lanes_to_bits(ir_.CreateICmpUGE(
                                       index, splat(ir_.getInt32(static_cast<std::uint32_t>(table.labels.size()))))));
  BasicBlock* outside = BasicBlock::Create(context(), "outside", llvm_function_);
  BasicBlock* inside = BasicBlock::Create(context(), "inside", llvm_function_);
  ir_.CreateCondBr(ir_.CreateICmpEQ(bad, ir_.getInt32(0)), inside, outside);
  ir_.SetInsertPoint(outside);
  call("wg_bad_branch_index", ir_.getVoidTy(), {context_argument_, site_number(), bad});
  ir_.CreateUnreachable();
  ir_.SetInsertPoint(inside);
  push_reconvergence(point);
  for (std::uint32_t k = 0; k < table.labels.size(); ++k) {
    const std::uint32_t target = block_at(function_.labels[table.labels[k]].instruction);
    if (target == point) continue;
    Value* side = side_of(k);
    BasicBlock* some = BasicBlock::Create(context(), "side", llvm_function_);
    BasicBlock* next = BasicBlock::Create(context(), "next", llvm_function_);
    ir_.CreateCondBr(ir_.CreateICmpNE(side, ir_.getInt32(0)), some, next);
    ir_.SetInsertPoint(some);
    if (target == cfg_.exit()) {
      count_exited(side);
      ir_.CreateStore(ir_.CreateAnd(ir_.CreateLoad(ir_.getInt32Ty(), live_), ir_.CreateNot(side)), live_);
    } else {
      push(side, target, ir_.getInt32(id));
    }
    ir_.CreateBr(next);
    ir_.SetInsertPoint(next);
  }
  ir_.CreateBr(dispatch_);
}

void FunctionLowering::lower_exit(std::uint32_t block, const ptx::Instruction& i) {
  const bool ends_thread = i.opcode == ptx::Opcode::exit || (i.opcode == ptx::Opcode::ret && is_kernel_);
  const auto leave = [&](Value* lanes) {
    if (i.opcode == ptx::Opcode::trap) {
      call("wg_trap", ir_.getVoidTy(), {context_argument_, site_number(), lanes});
      return;
    }
    if (!ends_thread) return;
    Value* at = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), context_argument_, offsetof(WarpContext, exited));
    ir_.CreateStore(ir_.CreateOr(ir_.CreateLoad(ir_.getInt32Ty(), at), lanes), at);
  };
  if (!i.guard) {
    record_edge(block, cfg_.exit());
    leave(active());
    ir_.CreateBr(leave_);
    return;
  }
  const std::uint32_t end = cfg_.blocks[block].end;
  const std::uint32_t following = end < function_.body.size() ? cfg_.block_of[end] : cfg_.exit();
  BasicBlock* next = arrival(following);
  ptx::Operand p;
  p.kind = ptx::OperandKind::reg;
  p.index = i.guard.reg;
  p.negated = i.guard.negated;
  BasicBlock* go = BasicBlock::Create(context(), "exit", llvm_function_);
  if (is_scalar(p)) {
    Value* condition = read_scalar(p, ptx::ScalarType::pred);
    Value* all = active();
    count_ways(block, cfg_.exit(), ir_.CreateSelect(condition, all, ir_.getInt32(0)), following,
               ir_.CreateSelect(condition, ir_.getInt32(0), all));
    ir_.CreateCondBr(condition, go, next);
    ir_.SetInsertPoint(go);
    leave(active());
    ir_.CreateBr(leave_);
    return;
  }
  Value* mask = active();
  Value* out = ir_.CreateAnd(mask, lanes_to_bits(read_vector(p, ptx::ScalarType::pred)));
  count_ways(block, cfg_.exit(), out, following, ir_.CreateAnd(mask, ir_.CreateNot(out)));
  ir_.CreateCondBr(ir_.CreateICmpNE(out, ir_.getInt32(0)), go, next);
  ir_.SetInsertPoint(go);
  leave(out);
  Value* stay = ir_.CreateAnd(mask, ir_.CreateNot(out));
  BasicBlock* all = BasicBlock::Create(context(), "all_exit", llvm_function_);
  BasicBlock* some = BasicBlock::Create(context(), "some_exit", llvm_function_);
  ir_.CreateCondBr(ir_.CreateICmpEQ(stay, ir_.getInt32(0)), all, some);
  ir_.SetInsertPoint(all);
  ir_.CreateBr(leave_);
  ir_.SetInsertPoint(some);
  ir_.CreateStore(ir_.CreateAnd(ir_.CreateLoad(ir_.getInt32Ty(), live_), ir_.CreateNot(out)), live_);
  ir_.CreateStore(stay, mask_);
  ir_.CreateBr(next);
}

// Every cycle passes here: an endless loop can be stopped, a waiting loop lets others run.
void FunctionLowering::poll_loop_head(std::uint32_t block) {
  Value* flag = context_field(offsetof(WarpContext, interrupt), ir_.getPtrTy(), "interrupt");
  Value* wanted = ir_.CreateLoad(ir_.getInt32Ty(), flag, /*isVolatile=*/true);
  BasicBlock* stop = BasicBlock::Create(context(), "interrupted", llvm_function_);
  BasicBlock* go_on = BasicBlock::Create(context(), "loop", llvm_function_);
  ir_.CreateCondBr(ir_.CreateICmpEQ(wanted, ir_.getInt32(0)), go_on, stop);
  ir_.SetInsertPoint(stop);
  instruction_index_ = cfg_.blocks[block].first;
  instruction_ = &function_.body[instruction_index_];
  site_ = kNoId;
  call("wg_interrupt", ir_.getVoidTy(), {context_argument_, site_number(), active()});
  ir_.CreateBr(go_on);
  ir_.SetInsertPoint(go_on);
  if (analysis_.spin_head[block]) spin_turn(block);
}

}  // namespace warpgrind::jit
