// Order of lowering: blocks, guards, undefined bits, affine results, then the opcode's own lowering.
#include "codegen/kernel/function_lowering.h"

#include "base/assert.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;
using ptx::Opcode;
using ptx::Operand;
using ptx::ScalarType;

namespace {

// Instructions that must not run for an empty set of lanes, or that do more than write registers.
bool acts(const ptx::Instruction& i) {
  const ptx::OpcodeInfo& info = ptx::info(i.opcode);
  return info.has(ptx::Effects::reads | ptx::Effects::writes | ptx::Effects::convergent | ptx::Effects::may_trap) ||
         i.opcode == Opcode::call;
}

}  // namespace

void FunctionLowering::run() {
  Value* lanes = f_.is_kernel ? f_.context_field(offsetof(WarpContext, initial_mask), ir().getInt32Ty(), "initial_mask")
                              : f_.llvm_function->getArg(1);
  tiny_.begin(f_);
  registers_.create();
  regions_.create();
  definedness_.create();
  variables_.create_frame();
  stops_.enter();
  masks_.create(lanes);
  divergence_.create();
  stack_parameters_.enter();
  f_.stand_outside();
  counting_.number_blocks();
  divergence_.create_blocks();
  for (const std::uint32_t b : f_.cfg.order) {
    lower_block(b);
    if (f_.unit.error) return;
  }
  f_.stand_outside();
  stops_.stand_outside();
  divergence_.finish();
  if (f_.wait_points.any()) waiting_.write_saving();
  stack_parameters_.leave();
  stops_.leave();
  variables_.release_frame();
  regions_.leave();
}

void FunctionLowering::lower_block(std::uint32_t b) {
  f_.now.block = b;
  f_.stand_outside();
  stops_.stand_outside();
  WG_ASSERT(divergence_.body(b) && divergence_.body(b)->empty());
  ir().SetInsertPoint(divergence_.body(b));
  counting_.begin_block(b);
  branches_.begin_block(b);
  counting_.count_block();
  const flow::BasicBlock& block = f_.cfg.blocks[b];
  WG_ASSERT(block.reachable && block.end > block.first);
  const std::uint32_t last = block.end - 1;
  for (std::uint32_t n = block.first; n < block.end; ++n) {
    if (f_.unit.error) return;
    stops_.pass(n);
    clock_.pass(f_.function.body[n]);
    if (n == last && flow::ends_block(f_.function.body[n])) break;
    lower_instruction(n);
  }
  if (f_.unit.error) return;
  clock_.write_down();
  if (flow::ends_block(f_.function.body[last])) check_end(last);
  regions_.end_block(b);
  branches_.lower(b);
  WG_ASSERT(f_.unit.all_refusals || f_.unit.error || ir().GetInsertBlock()->getTerminator());
}

// Checks the operands of a block's last instruction for undefined bits.
void FunctionLowering::check_end(std::uint32_t index) {
  if (!definedness_.on()) return;
  f_.stand_at(index);
  definedness_.check_guard();
  definedness_.check_uses();
}

void FunctionLowering::lower_instruction(std::uint32_t index) {
  f_.stand_at(index);
  free_scratch();
  if (f_.wait_points.overtakes(index)) f_.call("wg_let_others_pass", ir().getVoidTy(), {f_.context_argument});
  WG_ASSERT(f_.unit.all_refusals || !ir().GetInsertBlock()->getTerminator());
  const ptx::Guard& guard = f_.instruction().guard;
  if (!guard) return lower_unguarded();

  definedness_.check_guard();
  const Operand p = predicate_of(guard);
  BasicBlock* next = f_.new_block("guarded_end");
  if (registers_.is_scalar(p)) {
    BasicBlock* on = f_.new_block("guarded");
    ir().CreateCondBr(registers_.read_scalar(p, ScalarType::pred), on, next);
    ir().SetInsertPoint(on);
    counting_.count_guarded(masks_.active());
    lower_unguarded();
  } else {
    f_.now.guard = ir().CreateAnd(masks_.active(), f_.lanes_to_bits(registers_.read_vector(p, ScalarType::pred)));
    counting_.count_guarded(f_.now.guard);
    if (acts(f_.instruction())) {
      BasicBlock* on = f_.new_block("guarded");
      ir().CreateCondBr(ir().CreateICmpNE(f_.now.guard, ir().getInt32(0)), on, next);
      ir().SetInsertPoint(on);
    }
    lower_unguarded();
    f_.now.guard = nullptr;
  }
  if (!ir().GetInsertBlock()->getTerminator()) ir().CreateBr(next);
  ir().SetInsertPoint(next);
}

void FunctionLowering::lower_unguarded() {
  const ptx::Instruction& i = f_.instruction();
  const ptx::OpcodeInfo& info = ptx::info(i.opcode);
  const LowerFunction lower = find_lowering(i.opcode);
  f_.now.scalar = false;
  if (lower) {
    definedness_.check_uses();
    definedness_.propagate(*this, lower);
  }
  if (affine_.lower()) return;
  if (!lower) return f_.unsupported(std::string(info.refused).c_str());
  WG_ASSERT(!flow::ends_block(i));
  const std::size_t destinations = i.has_second_destination ? 2u : unsigned{info.destinations};
  f_.now.scalar = !info.has(ptx::Effects::convergent | ptx::Effects::reads | ptx::Effects::writes);
  for (std::size_t k = destinations; f_.now.scalar && k < i.operands.size(); ++k)
    f_.now.scalar = registers_.is_scalar(i.operands[k]);
  if (info.result == ptx::ResultForm::varying || i.has(ptx::Modifier::cc)) f_.now.scalar = false;
  slow_paths_.count();
  lower(*this);
}

}  // namespace warpgrind::jit
