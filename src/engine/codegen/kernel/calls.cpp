// Lowering of direct and indirect calls.
#include "codegen/kernel/calls.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>

#include "base/assert.h"
#include "base/element.h"
#include "codegen/kernel/signatures.h"
#include "jit/calls/symbols.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

// Lanes that executed `exit` in the callee have left the caller, too.
void Calls::after_call(Value* exited_before) {
  Value* at = f_.at(f_.context_argument, offsetof(WarpContext, exited));
  Value* exited = ir_.CreateAnd(ir_.CreateLoad(ir_.getInt32Ty(), at), ir_.CreateNot(exited_before));
  Value* stay = ir_.CreateAnd(masks_.active(), ir_.CreateNot(exited));
  BasicBlock* some = f_.new_block("after_call");
  BasicBlock* none = f_.new_block("all_gone");
  ir_.CreateCondBr(ir_.CreateICmpNE(stay, ir_.getInt32(0)), some, none);
  ir_.SetInsertPoint(none);
  ir_.CreateBr(divergence_.leave());
  ir_.SetInsertPoint(some);
  masks_.set_live(ir_.CreateAnd(masks_.live(), ir_.CreateNot(exited)));
  masks_.set_active(stay);
}

// If the depth of calls is known, local memory has room for all frames. Otherwise the stack may be full, so check.
void Calls::call(std::uint32_t callee, Value* mask, Value* arguments, Value* results) {
  const std::uint64_t frame = element(f_.unit.layout->frame, callee);
  if (f_.unit.layout->open_ended && frame != 0) {
    const auto load = [&](std::size_t at) { return ir_.CreateLoad(ir_.getInt64Ty(), f_.at(f_.context_argument, at)); };
    Value* needed = ir_.CreateAdd(load(offsetof(WarpContext, local_top)), ir_.getInt64(frame));
    BasicBlock *full = f_.new_block("stack_full"), *room = f_.new_block("stack_has_room");
    ir_.CreateCondBr(ir_.CreateICmpUGT(needed, load(offsetof(WarpContext, local_size))), full, room);
    ir_.SetInsertPoint(full);
    f_.call("wg_stack_overflow", ir_.getVoidTy(), {f_.context_argument, sites_.number(), needed, mask});
    ir_.CreateBr(room);
    ir_.SetInsertPoint(room);
  }
  if (f_.before_call) f_.before_call({f_.context_argument});
  ir_.CreateCall(element(f_.unit.functions, callee), {f_.context_argument, mask, arguments, results});
  if (f_.after_function) f_.after_function();
}

// Lanes may call different functions. These run one after the other.
void Calls::call_each(Value* functions, const Signature& signature, Value* mask, Value* arguments, Value* results) {
  BasicBlock* before = ir_.GetInsertBlock();
  BasicBlock* loop = f_.new_block("indirect");
  BasicBlock* done = f_.new_block("called");
  BasicBlock* bad = f_.new_block("bad_callee");
  BasicBlock* next = f_.new_block("next_callee");
  ir_.CreateBr(loop);
  ir_.SetInsertPoint(loop);
  llvm::PHINode* left = ir_.CreatePHI(ir_.getInt32Ty(), 2);
  left->addIncoming(mask, before);
  Value* first = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, ir_.getInt1(true));
  Value* which = ir_.CreateExtractElement(functions, first);
  Value* lanes = ir_.CreateAnd(left, f_.lanes_to_bits(ir_.CreateICmpEQ(functions, f_.splat(which))));
  llvm::SwitchInst* jump = ir_.CreateSwitch(which, bad, 8);
  BasicBlock* misfit = nullptr;
  const auto fault = [&](BasicBlock* block, bool is_function) {
    ir_.SetInsertPoint(block);
    f_.call("wg_indirect_call_fault", ir_.getVoidTy(),
            {f_.context_argument, sites_.number(), which, ir_.getInt32(is_function)});
    ir_.CreateBr(next);
  };
  for (const auto& [index, function] : f_.unit.functions) {
    const ptx::Function& f = f_.unit.module->functions[index];
    if (f.is_entry) continue;
    if (!fits(signature, signature_of(f))) {
      if (!misfit) fault(misfit = f_.new_block("misfit"), true);
      jump->addCase(ir_.getInt64(index + 1), misfit);
      continue;
    }
    BasicBlock* one = f_.new_block("callee");
    jump->addCase(ir_.getInt64(index + 1), one);
    ir_.SetInsertPoint(one);
    call(index, lanes, arguments, results);
    ir_.CreateBr(next);
  }
  fault(bad, false);
  ir_.SetInsertPoint(next);
  Value* rest = ir_.CreateAnd(left, ir_.CreateNot(lanes));
  left->addIncoming(rest, next);
  ir_.CreateCondBr(ir_.CreateICmpEQ(rest, ir_.getInt32(0)), done, loop);
  ir_.SetInsertPoint(done);
}

// Parameters and results of the current call's callee. nullopt: the call was refused.
std::optional<Signature> Calls::callee_signature() {
  const ptx::Instruction& i = f_.instruction();
  Signature signature;
  std::string name = "the prototype";
  if (i.operands[0].kind == OperandKind::function) {
    const ptx::Function& target = f_.unit.module->functions[i.operands[0].index];
    name = fmt::format("'{}'", target.name);
    if (target.is_entry) return f_.refuse(fmt::format("{} is a kernel and cannot be called", name)), std::nullopt;
    signature = signature_of(target);
  } else {
    if (i.operands.size() < 2 || i.operands[1].kind != OperandKind::table)
      return f_.unsupported("an indirect call without a prototype"), std::nullopt;
    const ptx::Table& table = f_.function.tables[i.operands[1].index];
    const bool is_list = table.prototype_parameters.empty() && table.prototype_results.empty();
    signature = is_list && !table.functions.empty() ? signature_of(f_.unit.module->functions[table.functions[0]])
                                                    : signature_of(table);
  }
  for (const auto* list : {&signature.parameters, &signature.results})
    for (const ptx::Variable& v : *list)
      if (v.space == StateSpace::reg)
        return f_.unsupported("a callee whose parameters are registers (.reg) instead of .param"), std::nullopt;
  if (const std::string problem = call_problem(f_.function, i, signature, name); !problem.empty())
    return f_.refuse(problem), std::nullopt;
  return signature;
}

// Refuses a call of a function that neither the module nor the virtual GPU has, by the feature that the program uses.
void Calls::refuse_undefined(std::string_view function) {
  // The device runtime's functions have the prefix __cudaCDP2 in PTX of nvcc, and a suffix with streams of threads.
  std::string name(function);
  constexpr std::string_view kDeviceRuntime = "__cudaCDP2", kOwnStream = "_ptsz";
  if (name.starts_with(kDeviceRuntime)) name.replace(0, kDeviceRuntime.size(), "cuda");
  if (name.ends_with(kOwnStream)) name.erase(name.size() - kOwnStream.size());
  if (name == "cudaGraphLaunch" || name == "cudaGetCurrentGraphExec")
    return f_.unsupported_feature(fmt::format("A launch of a graph by a kernel (device graph launch: {}())", name));
  if (name.starts_with("cuda"))
    return f_.unsupported_feature(fmt::format("{}() in a kernel, a function of CUDA's device runtime,", name));
  const bool device_library = name.starts_with("__nv_");
  f_.unsupported(
      fmt::format(
          "the function {} is declared but not defined{}", function,
          device_library ? ": it is one of the device library, without which this PTX was compiled (libdevice.bc)" : "")
          .c_str());
}

void Calls::lower() {
  const ptx::Instruction& i = f_.instruction();
  const Operand& callee = i.operands[0];
  const ptx::Function* target =
      callee.kind == OperandKind::function ? &f_.unit.module->functions[callee.index] : nullptr;
  const std::optional<Signature> signature = callee_signature();
  if (!signature) return;
  const PlaneLayout in = plane_layout(signature->parameters, 0, signature->parameters.size());
  const PlaneLayout out = plane_layout(signature->results, 0, signature->results.size());
  const auto area = [&](std::uint64_t words, const char* name) {
    return f_.entry_alloca(llvm::ArrayType::get(ir_.getInt32Ty(), std::max<std::uint64_t>(1, words) * kWarpSize), name,
                           64);
  };
  WG_ASSERT(in.word.size() == i.arguments.size() && out.word.size() == i.results.size());
  Value* arguments = area(in.words, "arguments");
  Value* results = area(out.words, "results");
  for (std::size_t k = 0; k < i.arguments.size(); ++k) {
    Value* to = f_.at(arguments, in.word[k] * kPlaneBytes);
    const Operand& a = i.arguments[k];
    if (a.kind == OperandKind::variable && a.scope == ptx::Scope::function &&
        f_.function.variables[a.index].space == StateSpace::param) {
      parameters_.copy(to, parameters_.planes(a.index), (f_.function.variables[a.index].size + 3) / 4);
    } else {
      const ScalarType type =
          a.kind == OperandKind::reg ? f_.function.registers[a.index].type : plain_type(signature->parameters[k]);
      parameters_.store_words(to, 0, f_.element(type), registers_.read_vector(a, type), false);
    }
  }
  Value* mask = masks_.bits();
  Value* exited = ir_.CreateLoad(ir_.getInt32Ty(), f_.at(f_.context_argument, offsetof(WarpContext, exited)));
  if (target && target->has_body) {
    call(callee.index, mask, arguments, results);
  } else if (target) {
    const std::string name = "wg_call_" + target->name;
    const std::optional<CallSymbol> symbol = find_call_symbol(name);
    if (!symbol) return refuse_undefined(target->name);
    if (in.words < symbol->parameter_words || out.words < symbol->result_words)
      return f_.refuse(fmt::format("'{}' is declared with other parameters than the virtual GPU's", target->name));
    f_.call(name.c_str(), ir_.getVoidTy(), {f_.context_argument, sites_.number(), mask, arguments, results});
  } else {
    call_each(registers_.read_vector(callee, ScalarType::b64), *signature, mask, arguments, results);
  }
  for (std::size_t k = 0; k < i.results.size(); ++k) {
    Value* from = f_.at(results, out.word[k] * kPlaneBytes);
    const Operand& r = i.results[k];
    if (r.kind == OperandKind::variable)
      parameters_.copy(parameters_.planes(r.index), from, (f_.function.variables[r.index].size + 3) / 4);
    else if (r.kind == OperandKind::reg)
      registers_.write(r, parameters_.load_words(from, 0, f_.element(f_.function.registers[r.index].type)),
                       f_.function.registers[r.index].type);
  }
  if (!target || target->has_body) after_call(exited);
}

}  // namespace warpgrind::jit
