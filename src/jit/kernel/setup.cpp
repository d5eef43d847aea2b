// FunctionLowering: slots, blocks, context fields, scoreboards.
#include <llvm/IR/Constants.h>

#include "flow/liveness.h"
#include "flow/webs.h"
#include "jit/kernel/function_lowering.h"
#include "jit/kernel/instruction_class.h"

namespace warpgrind::jit {

using llvm::Value;
using ptx::ScalarType;

namespace {

flow::LaneLayout lane_layout(LaneShape shape) {
  flow::LaneLayout layout;
  layout.row_length = row_length(shape);
  layout.general = shape == LaneShape::general;
  return layout;
}

ptx::Function one_web_a_register(const ptx::Function& function) {
  ptx::Function copy = function;
  flow::split_webs(copy, flow::build_control_flow(copy));
  return copy;
}

}  // namespace

FunctionLowering::FunctionLowering(KernelUnit& unit, std::uint32_t function_index, bool is_kernel)
    : unit_(unit),
      function_index_(function_index),
      function_(one_web_a_register(unit.module->functions[function_index])),
      is_kernel_(is_kernel),
      layout_(lane_layout(unit.options.shape)),
      cfg_(flow::build_control_flow(function_)),
      analysis_(flow::analyse_forms(function_, cfg_, layout_)),
      wait_points_(function_, cfg_, analysis_, layout_),
      row_length_(layout_.row_length),
      ir_(unit.llvm->getContext()),
      prologue_(unit.llvm->getContext()) {
  builder_ = &ir_;
}

void FunctionLowering::run() {
  llvm_function_ = unit_.functions.at(function_index_);
  context_argument_ = llvm_function_->getArg(0);
  llvm::BasicBlock* entry = llvm::BasicBlock::Create(context(), "entry", llvm_function_);
  llvm::BasicBlock* start = llvm::BasicBlock::Create(context(), "start", llvm_function_);
  prologue_.SetInsertPoint(llvm::BranchInst::Create(start, entry));
  ir_.SetInsertPoint(start);
  if (is_kernel_) {
    mask_argument_ = context_field(offsetof(WarpContext, initial_mask), ir_.getInt32Ty(), "initial_mask");
  } else {
    mask_argument_ = llvm_function_->getArg(1);
    arguments_ = llvm_function_->getArg(2);
    results_ = llvm_function_->getArg(3);
  }
  create_slots();
  create_divergence_state();
  create_blocks();
  lower_blocks();
}

llvm::AllocaInst* FunctionLowering::entry_alloca(llvm::Type* type, const char* name, unsigned alignment) {
  llvm::AllocaInst* a = prologue_.CreateAlloca(type, nullptr, name);
  if (alignment) a->setAlignment(llvm::Align(alignment));
  return a;
}

llvm::Type* FunctionLowering::slot_type(ScalarType type) {
  return element(type);
}

void FunctionLowering::create_slots() {
  slots_.resize(function_.registers.size());
  for (std::uint32_t r = 0; r < slots_.size(); ++r) {
    const flow::Form& f = form(r);
    Slot& slot = slots_[r];
    llvm::Type* type = slot_type(function_.registers[r].type);
    switch (f.kind) {
      case flow::FormKind::uniform:
        slot.scalar = entry_alloca(type, "u");
        break;
      case flow::FormKind::wide:
        slot.base = entry_alloca(ir_.getInt64Ty(), "base");
        [[fallthrough]];
      case flow::FormKind::affine:
        slot.scalar = entry_alloca(ir_.getInt32Ty(), "b");
        if (!f.kx) slot.kx = entry_alloca(ir_.getInt32Ty(), "kx");
        if (!f.ky) slot.ky = entry_alloca(ir_.getInt32Ty(), "ky");
        break;
      default:
        slot.vector = entry_alloca(llvm::FixedVectorType::get(type, kWarpSize), "v");
    }
  }
  clear_unwritten_registers();
  if (!is_kernel_ || unit_.layout->frame.at(function_index_) > 0) {
    if (is_kernel_) {
      frame_base_ = ir_.getInt64(0);
      // Frames of called functions start behind the kernel's own.
      prologue_.CreateStore(ir_.getInt64(unit_.layout->frame.at(function_index_)),
                            context_address(offsetof(WarpContext, local_top)));
    } else {
      Value* top = context_address(offsetof(WarpContext, local_top));
      frame_base_ = prologue_.CreateLoad(ir_.getInt64Ty(), top, "frame");
      prologue_.CreateStore(prologue_.CreateAdd(frame_base_, ir_.getInt64(unit_.layout->frame.at(function_index_))),
                            top);
    }
  } else {
    frame_base_ = ir_.getInt64(0);
    prologue_.CreateStore(ir_.getInt64(0), context_address(offsetof(WarpContext, local_top)));
  }
  param_planes_.assign(function_.variables.size(), nullptr);
}

// What a program may read before it writes it has some value, and 0 is one. Left open it would be LLVM's "undef", on
// which a branch or a division is undefined behaviour: whole paths with their bounds checks went, and control with
// them.
void FunctionLowering::clear_unwritten_registers() {
  const flow::LiveRegisters live = flow::find_live_registers(function_, cfg_);
  for (std::uint32_t r = 0; r < slots_.size(); ++r) {
    if (!live.live_in(0, r)) continue;
    const Slot& slot = slots_[r];
    for (llvm::AllocaInst* at : {slot.scalar, slot.kx, slot.ky, slot.base, slot.vector})
      if (at) prologue_.CreateStore(llvm::Constant::getNullValue(at->getAllocatedType()), at);
  }
}

Value* FunctionLowering::context_address(std::size_t offset) {
  return prologue_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), context_argument_, offset);
}

Value* FunctionLowering::context_field(std::size_t offset, llvm::Type* type, const char* name) {
  Value*& field = context_fields_[offset];
  if (!field) {
    llvm::LoadInst* load = prologue_.CreateLoad(type, context_address(offset), name);
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context(), {}));
    field = load;
  }
  return field;
}

void FunctionLowering::create_blocks() {
  bodies_.assign(cfg_.blocks.size(), nullptr);
  arrivals_.assign(cfg_.blocks.size(), nullptr);
  block_numbers_.assign(cfg_.blocks.size() + 1, events::EdgeFacts::kLeaves);
  for (std::uint32_t n = 0; n < cfg_.order.size(); ++n)
    block_numbers_[cfg_.order[n]] = static_cast<std::uint32_t>(unit_.facts.blocks.size()) + n;
  for (std::uint32_t b : cfg_.order) {
    bodies_[b] = llvm::BasicBlock::Create(context(), "b" + std::to_string(b), llvm_function_);
    if (is_reconvergence_[b])
      arrivals_[b] = llvm::BasicBlock::Create(context(), "r" + std::to_string(b), llvm_function_);
  }
  ir_.CreateBr(arrival(0));
  for (std::uint32_t b : cfg_.order)
    if (arrivals_[b]) emit_arrival(b);
}

void FunctionLowering::lower_blocks() {
  for (std::uint32_t b : cfg_.order) {
    current_block_ = b;
    ir_.SetInsertPoint(bodies_[b]);
    record_block_facts(b);
    if (cfg_.blocks[b].loop_head) poll_loop_head(b);
    count_block(b);
    const flow::BasicBlock& block = cfg_.blocks[b];
    const std::uint32_t last = block.end - 1;
    for (std::uint32_t n = block.first; n < block.end; ++n) {
      if (unit_.error) return;
      if (n == last && flow::ends_block(function_.body[n])) break;
      lower_instruction(n);
    }
    if (unit_.error) return;
    lower_terminator(b);
  }
  emit_leave_block();
}

void FunctionLowering::record_block_facts(std::uint32_t b) {
  const flow::BasicBlock& block = cfg_.blocks[b];
  events::BlockFacts facts;
  facts.function = function_.name;
  facts.first_instruction = block.first;
  facts.instruction_count = block.end - block.first;
  std::uint16_t* const flops[] = {nullptr,     &facts.fadd, &facts.fmul, &facts.ffma, &facts.dadd,
                                  &facts.dmul, &facts.dfma, &facts.hadd, &facts.hmul, &facts.hfma};
  for (std::uint32_t n = block.first; n < block.end; ++n) {
    const ptx::Instruction& i = function_.body[n];
    ++facts.by_class[static_cast<unsigned>(instruction_class(i))];
    if (const std::uint8_t kind = flop_kind(i)) ++*flops[kind];
    if (!facts.line && i.location != ptx::kNoId) {
      facts.line = function_.locations[i.location].line;
      facts.file = function_.locations[i.location].file;
    }
  }
  unit_.facts.blocks.push_back(facts);
}

Value* FunctionLowering::scoreboard_slot(Value* index) {
  Value* board = context_field(offsetof(WarpContext, scoreboard), ir_.getPtrTy(), "scoreboard");
  return ir_.CreateInBoundsGEP(ir_.getInt64Ty(), board, index);
}

void FunctionLowering::bump(Value* address, Value* amount) {
  ir_.CreateStore(ir_.CreateAdd(ir_.CreateLoad(ir_.getInt64Ty(), address), amount), address);
}

void FunctionLowering::count_block(std::uint32_t) {
  if (!unit_.options.counters) return;
  const std::uint64_t slot = 2 * (unit_.facts.blocks.size() - 1);
  bump(scoreboard_slot(ir_.getInt64(slot)), ir_.getInt64(1));
  Value* lanes = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, active());
  bump(scoreboard_slot(ir_.getInt64(slot + 1)), ir_.CreateZExt(lanes, ir_.getInt64Ty()));
}

void FunctionLowering::record_edge(std::uint32_t block, std::uint32_t target) {
  unit_.facts.edges.push_back({block_numbers_[block], block_numbers_[target], events::EdgeFacts::kNotCounted});
}

void FunctionLowering::count_edge(std::uint32_t block, std::uint32_t target, Value* lanes) {
  record_edge(block, target);
  if (!unit_.options.counters || !unit_.options.edges) return;
  const std::uint32_t counter = unit_.facts.edge_counters++;
  unit_.facts.edges.back().counter = counter;
  llvm::GlobalVariable* base = unit_.llvm->getGlobalVariable("wg_edge_base", true);
  Value* slot = ir_.CreateAdd(ir_.CreateLoad(ir_.getInt64Ty(), base), ir_.getInt64(2 * counter));
  Value* some = ir_.CreateICmpNE(lanes, ir_.getInt32(0));
  bump(scoreboard_slot(slot), ir_.CreateZExt(some, ir_.getInt64Ty()));
  bump(scoreboard_slot(ir_.CreateAdd(slot, ir_.getInt64(1))),
       ir_.CreateZExt(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes), ir_.getInt64Ty()));
}

}  // namespace warpgrind::jit
