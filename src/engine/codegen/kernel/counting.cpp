// Code that updates the scoreboard, and the facts about each counter.
#include "codegen/kernel/counting.h"

#include <llvm/IR/Constants.h>

#include "base/assert.h"
#include "codegen/kernel/instruction_class.h"
#include "ptx/inlining.h"

namespace warpgrind::jit {

using llvm::Value;

void Counting::number_blocks() {
  block_numbers_.assign(f_.cfg.blocks.size() + 1, events::EdgeFacts::kLeaves);
  for (std::uint32_t n = 0; n < f_.cfg.order.size(); ++n)
    block_numbers_[f_.cfg.order[n]] = static_cast<std::uint32_t>(f_.unit.facts.blocks.size()) + n;
}

void Counting::begin_block(std::uint32_t b) {
  const flow::BasicBlock& block = f_.cfg.blocks[b];
  events::BlockFacts facts;
  facts.function = f_.function.name;
  facts.first_instruction = block.first;
  facts.instruction_count = block.end - block.first;
  std::uint32_t* const flops[] = {nullptr,     &facts.fadd, &facts.fmul, &facts.ffma, &facts.dadd,
                                  &facts.dmul, &facts.dfma, &facts.hadd, &facts.hmul, &facts.hfma};
  for (std::uint32_t n = block.first; n < block.end; ++n) {
    const ptx::Instruction& i = f_.function.body[n];
    ++facts.by_class[static_cast<unsigned>(instruction_class(i))];
    if (const std::uint8_t kind = flop_kind(i)) ++*flops[kind];
    if (!facts.line) ptx::set_place(facts, *f_.unit.module, f_.function, i);
  }
  WG_ASSERT(block_numbers_[b] == f_.unit.facts.blocks.size());
  f_.unit.facts.blocks.push_back(facts);
}

// Slot numbers are relative to their part. The start of a part is a global constant, since it is known only when all
// blocks are counted.
Value* Counting::part(const char* name) {
  return ir_.CreateLoad(ir_.getInt64Ty(), f_.unit.llvm->getGlobalVariable(name, true));
}

Value* Counting::slot(Value* index) {
  Value* board = f_.context_field(offsetof(WarpContext, scoreboard), ir_.getPtrTy(), "scoreboard");
  return ir_.CreateInBoundsGEP(ir_.getInt64Ty(), board, index);
}

void Counting::bump(Value* address, Value* amount) {
  ir_.CreateStore(ir_.CreateAdd(ir_.CreateLoad(ir_.getInt64Ty(), address), amount), address);
}

void Counting::count_block() {
  if (!f_.unit.options.counters) return;
  WG_ASSERT(!f_.unit.facts.blocks.empty());
  const std::uint64_t first = 2 * (f_.unit.facts.blocks.size() - 1);
  bump(slot(ir_.getInt64(first)), ir_.getInt64(1));
  Value* lanes = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, masks_.active());
  bump(slot(ir_.getInt64(first + 1)), ir_.CreateZExt(lanes, ir_.getInt64Ty()));
}

void Counting::count_guarded(Value* lanes) {
  if (!f_.unit.options.counters) return;
  events::GuardFacts facts;
  facts.instruction = f_.now.index;
  facts.block = static_cast<std::uint32_t>(f_.unit.facts.blocks.size() - 1);
  facts.instruction_class = instruction_class(f_.instruction());
  facts.flop_kind = flop_kind(f_.instruction());
  WG_ASSERT(f_.instruction().guard && f_.now.index >= f_.cfg.blocks[f_.now.block].first);
  Value* at = ir_.CreateAdd(part("wg_guard_base"), ir_.getInt64(f_.unit.facts.guards.size()));
  f_.unit.facts.guards.push_back(facts);
  bump(slot(at), ir_.CreateZExt(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes), ir_.getInt64Ty()));
}

void Counting::record_edge(std::uint32_t block, std::uint32_t target) {
  WG_ASSERT(block_numbers_[block] < f_.unit.facts.blocks.size());
  f_.unit.facts.edges.push_back({block_numbers_[block], block_numbers_[target], events::EdgeFacts::kNotCounted});
}

void Counting::count_edge(std::uint32_t block, std::uint32_t target, Value* lanes) {
  record_edge(block, target);
  if (!f_.unit.options.counters || !f_.unit.options.edges) return;
  const std::uint32_t counter = f_.unit.facts.edge_counters++;
  f_.unit.facts.edges.back().counter = counter;
  Value* first = ir_.CreateAdd(part("wg_edge_base"), ir_.getInt64(2 * counter));
  Value* some = ir_.CreateICmpNE(lanes, ir_.getInt32(0));
  bump(slot(first), ir_.CreateZExt(some, ir_.getInt64Ty()));
  bump(slot(ir_.CreateAdd(first, ir_.getInt64(1))),
       ir_.CreateZExt(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes), ir_.getInt64Ty()));
}

void Counting::count_ways(std::uint32_t block, std::uint32_t target, Value* taken, std::uint32_t fallthrough,
                          Value* not_taken) {
  if (target == fallthrough) return record_edge(block, target);
  count_edge(block, target, taken);
  count_edge(block, fallthrough, not_taken);
}

void Counting::count_branch(Value* taken, Value* split) {
  Value* first = begin_branch();
  if (!first) return;
  Value* some = ir_.CreateICmpNE(taken, ir_.getInt32(0));
  add_to(first, 0, ir_.CreateNot(some));
  add_to(first, 1, split);
  add_to(first, 2, ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, taken));
  add_to(first, 3, some);
}

void Counting::add_to(Value* first, unsigned field, Value* amount) {
  bump(slot(ir_.CreateAdd(first, ir_.getInt64(field))), ir_.CreateZExt(amount, ir_.getInt64Ty()));
}

// One update if no lane took the branch, two if all did. Four updates each time cost a tight loop a tenth.
void Counting::count_way(Value* first, Value* taken, bool split) {
  if (!taken) return add_to(first, 0, ir_.getInt32(1));
  if (split) add_to(first, 1, ir_.getInt32(1));
  add_to(first, 2, ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, taken));
  add_to(first, 3, ir_.getInt32(1));
}

Value* Counting::begin_branch() {
  if (!f_.unit.options.counters) return nullptr;
  const ptx::Instruction& i = f_.instruction();
  events::BranchFacts facts;
  facts.instruction = f_.now.index;
  facts.ptx_line = i.range.line;
  facts.function = f_.function.name;
  ptx::set_place(facts, *f_.unit.module, f_.function, i);
  Value* first = ir_.CreateAdd(part("wg_branch_base"),
                               ir_.getInt64(events::BranchFacts::kCounters * f_.unit.facts.branches.size()));
  f_.unit.facts.branches.push_back(facts);
  return first;
}

Value* Counting::begin_slow_path(events::SlowPath kind) {
  WG_ASSERT(f_.unit.options.counters && !f_.unit.facts.blocks.empty());
  std::vector<events::SlowPathFacts>& all = f_.unit.facts.slow_paths;
  Value* first = ir_.CreateAdd(part("wg_slow_path_base"), ir_.getInt64(events::SlowPathFacts::kCounters * all.size()));
  all.push_back({f_.now.index, static_cast<std::uint32_t>(f_.unit.facts.blocks.size() - 1), kind});
  return slot(first);
}

}  // namespace warpgrind::jit
