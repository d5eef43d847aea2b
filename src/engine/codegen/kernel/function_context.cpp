// Analyses of a function, its LLVM function, and the values that the prologue loads.
#include "codegen/kernel/function_context.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>

#include "base/assert.h"
#include "base/element.h"
#include "codegen/kernel/stack_parameters.h"
#include "codegen/kernel/verifier.h"
#include "flow/webs.h"
#include "ptx/inlining.h"
#include "ptx/printer.h"

namespace warpgrind::jit {

using llvm::Value;

namespace {

flow::LaneLayout lane_layout(LaneShape shape) {
  flow::LaneLayout layout;
  layout.row_length = row_length(shape);
  layout.one_row = shape == LaneShape::half;
  layout.general = shape == LaneShape::general;
  return layout;
}

// A debugger finds registers by their names in the PTX, so kernels with stops keep them whole.
ptx::Function prepared(const ptx::Function& function, StopAt stops) {
  ptx::Function copy = function;
  if (stops == StopAt::nowhere) flow::split_webs(copy, flow::build_control_flow(copy));
  access_on_stack(copy);
  return copy;
}

}  // namespace

FunctionContext::FunctionContext(KernelUnit& kernel, std::uint32_t index, bool is_the_kernel)
    : Values(body_, before_call),
      unit(kernel),
      function_index(index),
      function(prepared(kernel.module->functions[index], kernel.options.stops)),
      is_kernel(is_the_kernel),
      layout(lane_layout(kernel.options.shape)),
      cfg(flow::build_control_flow(function)),
      analysis(flow::analyse_forms(function, cfg, layout)),
      lane_steps(function, cfg, analysis.forms),
      wait_points(function, cfg, analysis, layout),
      provenance(function, cfg),
      llvm_function(warpgrind::element(kernel.functions, index)),
      entry(llvm::BasicBlock::Create(kernel.llvm->getContext(), "entry", llvm_function)),
      enter(llvm::BasicBlock::Create(kernel.llvm->getContext(), "enter", llvm_function)),
      context_argument(enter_with(0)),
      frame_argument(is_kernel ? enter_with(1) : nullptr),
      prologue(kernel.llvm->getContext()),
      body_(kernel.llvm->getContext()) {
  llvm::BranchInst::Create(enter, entry);
  llvm::BasicBlock* start = new_block("start");
  prologue.SetInsertPoint(llvm::BranchInst::Create(start, enter));
  body_.SetInsertPoint(start);
}

Value* FunctionContext::enter_with(unsigned argument) const {
  Value* first = llvm_function->getArg(argument);
  if (!is_kernel) return first;
  llvm::PHINode* warp = llvm::PHINode::Create(first->getType(), 2, "", enter);
  warp->addIncoming(first, entry);
  return warp;
}

void FunctionContext::enter_again(Value* context, Value* frame) {
  WG_ASSERT(is_kernel);
  llvm::cast<llvm::PHINode>(context_argument)->addIncoming(context, ir().GetInsertBlock());
  llvm::cast<llvm::PHINode>(frame_argument)->addIncoming(frame, ir().GetInsertBlock());
  ir().CreateBr(enter);
}

void FunctionContext::stand_at(std::uint32_t index) {
  WG_ASSERT(index < function.body.size());
  now.instruction = &function.body[index];
  now.index = index;
  now.site = ptx::kNoId;
  now.guard = nullptr;
  if (unit.options.verify) mark_instruction(ir(), function_index, index);
}

void FunctionContext::stand_outside() {
  if (unit.options.verify) mark_no_instruction(ir());
}

Value* FunctionContext::lane_pattern(bool y, unsigned width) {
  llvm::SmallVector<llvm::Constant*, kWarpSize> lanes;
  for (unsigned l = 0; l < kWarpSize; ++l)
    lanes.push_back(ir().getIntN(width, !y ? l % layout.row_length : layout.one_row ? 0 : l / layout.row_length));
  return llvm::ConstantVector::get(lanes);
}

llvm::AllocaInst* FunctionContext::entry_alloca(llvm::Type* type, const char* name, unsigned alignment) {
  llvm::AllocaInst* a = llvm::IRBuilder<>(entry->getTerminator()).CreateAlloca(type, nullptr, name);
  if (alignment) a->setAlignment(llvm::Align(alignment));
  return a;
}

Value* FunctionContext::context_address(std::size_t offset) {
  return prologue.CreateConstInBoundsGEP1_64(ir().getInt8Ty(), context_argument, offset);
}

Value* FunctionContext::context_field(std::size_t offset, llvm::Type* type, const char* name) {
  Value*& field = context_fields_[offset];
  if (!field) {
    llvm::LoadInst* load = prologue.CreateLoad(type, context_address(offset), name);
    // Another warp may continue in place of one that ends, so its own fields change.
    const bool of_warp = offset >= offsetof(WarpContext, tid_base) && offset <= offsetof(WarpContext, spin);
    if (!of_warp) load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context(), {}));
    field = load;
  }
  return field;
}

Value* FunctionContext::shared_start() {
  if (!unit.options.clusters) return nullptr;
  Value* rank = context_field(offsetof(WarpContext, cluster_rank), ir().getInt32Ty(), "cluster_rank");
  return ir().CreateShl(ir().CreateZExt(rank, ir().getInt64Ty()), ir().getInt64(kClusterShift));
}

Value* FunctionContext::own_shared(Value* addresses) {
  Value* start = shared_start();
  if (!start) return addresses;
  return ir().CreateSub(addresses, addresses->getType()->isVectorTy() ? splat(start) : start);
}

std::string FunctionContext::place() const {
  const ptx::Instruction& i = instruction();
  std::string where = fmt::format("PTX line {}", i.range.line);
  const ptx::SourcePlace at = ptx::source_place(*unit.module, function, i);
  if (!at.file.empty()) where += fmt::format(", {}:{}", at.file, at.line);
  return fmt::format("{}, function {}", where, function.name);
}

void FunctionContext::fail(Error error) {
  if (unit.all_refusals)
    unit.all_refusals->push_back(std::move(error));
  else if (!unit.error)
    unit.error = std::move(error);
}

// Spelling in the original PTX. `function` is a modified copy.
std::string FunctionContext::spelling() const {
  return ptx::opcode_spelling(unit.module->functions[function_index].body[now.index]);
}

void FunctionContext::unsupported(const char* why) {
  unsupported_feature(spelling(), fmt::format(": {}", why));
}

void FunctionContext::unsupported_feature(const std::string& feature, const std::string& why) {
  fail({ErrorKind::unsupported, fmt::format("{} is not supported by the virtual GPU{} ({})", feature, why, place()),
        "`warpgrind scan` lists every such instruction of a program before it is run"});
}

void FunctionContext::refuse(const std::string& problem) {
  fail({ErrorKind::bad_input, fmt::format("{}: {} ({})", spelling(), problem, place()), ""});
}

}  // namespace warpgrind::jit
