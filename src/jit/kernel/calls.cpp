// FunctionLowering: parameters and calls. A device function is `void f(WarpContext*, i32 mask, i32* arguments, i32*
// results)`; parameters live in planes of 32-bit words: word w of lane l at [w*32 + l].
#include <fmt/format.h>
#include <llvm/IR/Constants.h>

#include "jit/calls/symbols.h"
#include "jit/kernel/function_lowering.h"
#include "jit/kernel/signatures.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

namespace {
constexpr std::uint64_t kPlaneBytes = 4 * kWarpSize;
}

Value* FunctionLowering::param_planes(std::uint32_t v) {
  const auto at = [&](Value* base, std::size_t first, std::size_t count, std::size_t index) {
    const PlaneLayout planes = plane_layout(function_.variables, first, count);
    return ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), base, planes.word[index] * kPlaneBytes);
  };
  if (!function_.is_entry && v < function_.parameter_count) return at(arguments_, 0, function_.parameter_count, v);
  if (!function_.is_entry && v < function_.parameter_count + function_.result_count)
    return at(results_, function_.parameter_count, function_.result_count, v - function_.parameter_count);
  if (!param_planes_[v]) {
    const std::uint64_t words = (function_.variables[v].size + 3) / 4;
    param_planes_[v] = entry_alloca(llvm::ArrayType::get(ir_.getInt32Ty(), words * kWarpSize), "param", 64);
  }
  return param_planes_[v];
}

Value* FunctionLowering::load_plane(Value* planes, std::uint64_t offset, llvm::Type* element) {
  llvm::Type* plane = llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize);
  const unsigned bits = element->getPrimitiveSizeInBits();
  const auto shaped = [&](llvm::Type* e) { return llvm::FixedVectorType::get(e, kWarpSize); };
  const auto word = [&](std::uint64_t w) {
    return ir_.CreateAlignedLoad(plane, ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), planes, w * kPlaneBytes),
                                 llvm::Align(64));
  };
  Value* v = word(offset / 4);
  if (bits == 64) {
    Value* high = ir_.CreateZExt(word(offset / 4 + 1), shaped(ir_.getInt64Ty()));
    v = ir_.CreateOr(ir_.CreateZExt(v, shaped(ir_.getInt64Ty())), ir_.CreateShl(high, splat(ir_.getInt64(32))));
  } else if (bits < 32) {
    v = ir_.CreateTrunc(ir_.CreateLShr(v, splat(ir_.getInt32(offset % 4 * 8))), shaped(ir_.getIntNTy(bits)));
  }
  return element->isIntegerTy() ? v : ir_.CreateBitCast(v, shaped(element));
}

void FunctionLowering::store_plane(Value* planes, std::uint64_t offset, llvm::Type* element, Value* v, bool masked) {
  llvm::Type* plane = llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize);
  const unsigned bits = element->getPrimitiveSizeInBits();
  const auto shaped = [&](llvm::Type* e) { return llvm::FixedVectorType::get(e, kWarpSize); };
  const auto put = [&](std::uint64_t w, Value* value) {
    Value* at = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), planes, w * kPlaneBytes);
    if (masked) value = ir_.CreateSelect(mask_vector(), value, ir_.CreateAlignedLoad(plane, at, llvm::Align(64)));
    ir_.CreateAlignedStore(value, at, llvm::Align(64));
  };
  if (!element->isIntegerTy()) v = ir_.CreateBitCast(v, shaped(ir_.getIntNTy(bits)));
  if (bits == 64) {
    put(offset / 4, ir_.CreateTrunc(v, plane));
    put(offset / 4 + 1, ir_.CreateTrunc(ir_.CreateLShr(v, splat(ir_.getInt64(32))), plane));
  } else if (bits == 32) {
    put(offset / 4, v);
  } else {
    const unsigned shift = offset % 4 * 8;
    Value* at = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), planes, offset / 4 * kPlaneBytes);
    Value* old = ir_.CreateAlignedLoad(plane, at, llvm::Align(64));
    Value* kept = ir_.CreateAnd(old, splat(ir_.getInt32(~(((1u << bits) - 1) << shift))));
    put(offset / 4, ir_.CreateOr(kept, ir_.CreateShl(ir_.CreateZExt(v, plane), splat(ir_.getInt32(shift)))));
  }
}

void FunctionLowering::copy_planes(Value* to, Value* from, std::uint64_t words) {
  llvm::Type* plane = llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize);
  if (words > 16) {
    ir_.CreateMemCpy(to, llvm::Align(64), from, llvm::Align(64), words * kPlaneBytes);
    return;
  }
  for (std::uint64_t w = 0; w < words; ++w) {
    Value* v = ir_.CreateAlignedLoad(plane, ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), from, w * kPlaneBytes),
                                     llvm::Align(64));
    ir_.CreateAlignedStore(v, ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), to, w * kPlaneBytes), llvm::Align(64));
  }
}

bool FunctionLowering::parameter_access_fits(const Operand& address) {
  const ptx::Instruction& i = *instruction_;
  const unsigned bytes = ptx::bytes(i.type());
  if (bytes > 8) return unsupported("a parameter access of 16 bytes without .v2"), false;
  const std::string problem = parameter_problem(function_, address, bytes * i.vector, bytes);
  if (!problem.empty()) refuse(problem);
  return problem.empty();
}

void FunctionLowering::lower_param_load() {
  const ptx::Instruction& i = *instruction_;
  const Operand& a = i.operands[1];
  llvm::Type* e = element(i.type());
  const unsigned bytes = e->getPrimitiveSizeInBits() / 8;
  if (!parameter_access_fits(a)) return;
  for (unsigned k = 0; k < i.vector; ++k) {
    const Operand& d = i.operands[0].kind == OperandKind::vector ? i.operands[0].elements[k] : i.operands[0];
    const auto offset = static_cast<std::uint64_t>(a.offset) + std::uint64_t{k} * bytes;
    if (function_.is_entry && a.index < function_.parameter_count) {
      Value* params = context_field(offsetof(WarpContext, params), ir_.getPtrTy(), "params");
      Value* at =
          ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), params, parameter_layout(function_)[a.index].offset + offset);
      llvm::LoadInst* load = ir_.CreateAlignedLoad(e, at, llvm::Align(1));
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context(), {}));
      write(d, load, i.type());
    } else {
      write(d, load_plane(param_planes(a.index), offset, e), i.type());
    }
  }
}

void FunctionLowering::lower_param_store() {
  const ptx::Instruction& i = *instruction_;
  const Operand& a = i.operands[0];
  if (a.base != OperandKind::variable) return unsupported("st.param through a register");
  llvm::Type* e = element(i.type());
  const unsigned bytes = e->getPrimitiveSizeInBits() / 8;
  if (!parameter_access_fits(a)) return;
  const bool is_result = !function_.is_entry && a.index < function_.parameter_count + function_.result_count;
  for (unsigned k = 0; k < i.vector; ++k) {
    const Operand& s = i.operands[1].kind == OperandKind::vector ? i.operands[1].elements[k] : i.operands[1];
    store_plane(param_planes(a.index), static_cast<std::uint64_t>(a.offset) + std::uint64_t{k} * bytes, e,
                read_vector(s, i.type()), is_result || guard_bits_);
  }
}

// Lanes that executed `exit` inside the callee are gone here too.
void FunctionLowering::after_call(Value* exited_before) {
  Value* at = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), context_argument_, offsetof(WarpContext, exited));
  Value* exited = ir_.CreateAnd(ir_.CreateLoad(ir_.getInt32Ty(), at), ir_.CreateNot(exited_before));
  Value* stay = ir_.CreateAnd(active(), ir_.CreateNot(exited));
  BasicBlock* some = BasicBlock::Create(context(), "after_call", llvm_function_);
  BasicBlock* none = BasicBlock::Create(context(), "all_gone", llvm_function_);
  ir_.CreateCondBr(ir_.CreateICmpNE(stay, ir_.getInt32(0)), some, none);
  ir_.SetInsertPoint(none);
  ir_.CreateBr(leave_);
  ir_.SetInsertPoint(some);
  ir_.CreateStore(ir_.CreateAnd(ir_.CreateLoad(ir_.getInt32Ty(), live_), ir_.CreateNot(exited)), live_);
  ir_.CreateStore(stay, mask_);
}

// Lanes may call different functions: one after the other.
void FunctionLowering::call_each(Value* functions, const Signature& signature, Value* mask, Value* arguments,
                                 Value* results) {
  BasicBlock* before = ir_.GetInsertBlock();
  BasicBlock* loop = BasicBlock::Create(context(), "indirect", llvm_function_);
  BasicBlock* done = BasicBlock::Create(context(), "called", llvm_function_);
  BasicBlock* bad = BasicBlock::Create(context(), "bad_callee", llvm_function_);
  BasicBlock* next = BasicBlock::Create(context(), "next_callee", llvm_function_);
  ir_.CreateBr(loop);
  ir_.SetInsertPoint(loop);
  llvm::PHINode* left = ir_.CreatePHI(ir_.getInt32Ty(), 2);
  left->addIncoming(mask, before);
  Value* first = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, ir_.getInt1(true));
  Value* which = ir_.CreateExtractElement(functions, first);
  Value* lanes = ir_.CreateAnd(left, lanes_to_bits(ir_.CreateICmpEQ(functions, splat(which))));
  llvm::SwitchInst* jump = ir_.CreateSwitch(which, bad, 8);
  BasicBlock* misfit = nullptr;
  const auto fault = [&](BasicBlock* block, bool is_function) {
    ir_.SetInsertPoint(block);
    call("wg_indirect_call_fault", ir_.getVoidTy(),
         {context_argument_, site_number(), which, ir_.getInt32(is_function)});
    ir_.CreateBr(next);
  };
  for (const auto& [index, function] : unit_.functions) {
    const ptx::Function& f = unit_.module->functions[index];
    if (f.is_entry) continue;
    if (!fits(signature, signature_of(f))) {
      if (!misfit) fault(misfit = BasicBlock::Create(context(), "misfit", llvm_function_), true);
      jump->addCase(ir_.getInt64(index + 1), misfit);
      continue;
    }
    BasicBlock* one = BasicBlock::Create(context(), "callee", llvm_function_);
    jump->addCase(ir_.getInt64(index + 1), one);
    ir_.SetInsertPoint(one);
    ir_.CreateCall(function, {context_argument_, lanes, arguments, results});
    ir_.CreateBr(next);
  }
  fault(bad, false);
  ir_.SetInsertPoint(next);
  Value* rest = ir_.CreateAnd(left, ir_.CreateNot(lanes));
  left->addIncoming(rest, next);
  ir_.CreateCondBr(ir_.CreateICmpEQ(rest, ir_.getInt32(0)), done, loop);
  ir_.SetInsertPoint(done);
}

// What the current call's callee takes and gives; nothing: the call was refused.
std::optional<Signature> FunctionLowering::callee_signature() {
  const ptx::Instruction& i = *instruction_;
  Signature signature;
  std::string name = "the prototype";
  if (i.operands[0].kind == OperandKind::function) {
    const ptx::Function& target = unit_.module->functions[i.operands[0].index];
    name = fmt::format("'{}'", target.name);
    if (target.is_entry) return refuse(fmt::format("{} is a kernel and cannot be called", name)), std::nullopt;
    signature = signature_of(target);
  } else {
    if (i.operands.size() < 2 || i.operands[1].kind != OperandKind::table)
      return unsupported("an indirect call without a prototype"), std::nullopt;
    const ptx::Table& table = function_.tables[i.operands[1].index];
    const bool is_list = table.prototype_parameters.empty() && table.prototype_results.empty();
    signature = is_list && !table.functions.empty() ? signature_of(unit_.module->functions[table.functions[0]])
                                                    : signature_of(table);
  }
  if (const std::string problem = call_problem(function_, i, signature, name); !problem.empty())
    return refuse(problem), std::nullopt;
  return signature;
}

void FunctionLowering::lower_call() {
  const ptx::Instruction& i = *instruction_;
  const Operand& callee = i.operands[0];
  const ptx::Function* target = callee.kind == OperandKind::function ? &unit_.module->functions[callee.index] : nullptr;
  const std::optional<Signature> signature = callee_signature();
  if (!signature) return;
  const PlaneLayout in = plane_layout(signature->parameters, 0, signature->parameters.size());
  const PlaneLayout out = plane_layout(signature->results, 0, signature->results.size());
  const auto area = [&](std::uint64_t words, const char* name) {
    return entry_alloca(llvm::ArrayType::get(ir_.getInt32Ty(), std::max<std::uint64_t>(1, words) * kWarpSize), name,
                        64);
  };
  Value* arguments = area(in.words, "arguments");
  Value* results = area(out.words, "results");
  for (std::size_t k = 0; k < i.arguments.size(); ++k) {
    Value* to = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), arguments, in.word[k] * kPlaneBytes);
    const Operand& a = i.arguments[k];
    if (a.kind == OperandKind::variable && a.scope == ptx::Scope::function &&
        function_.variables[a.index].space == StateSpace::param) {
      copy_planes(to, param_planes(a.index), (function_.variables[a.index].size + 3) / 4);
    } else {
      const ScalarType type =
          a.kind == OperandKind::reg ? function_.registers[a.index].type : plain_type(signature->parameters[k]);
      store_plane(to, 0, element(type), read_vector(a, type), false);
    }
  }
  Value* mask = mask_bits();
  Value* exited = ir_.CreateLoad(ir_.getInt32Ty(), ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), context_argument_,
                                                                                  offsetof(WarpContext, exited)));
  if (target && target->has_body) {
    ir_.CreateCall(unit_.functions.at(callee.index), {context_argument_, mask, arguments, results});
  } else if (target) {
    const std::string name = "wg_call_" + target->name;
    const std::optional<CallSymbol> symbol = find_call_symbol(name);
    if (!symbol) return unsupported(fmt::format("the function {} is declared but not defined", target->name).c_str());
    if (in.words < symbol->parameter_words || out.words < symbol->result_words)
      return refuse(fmt::format("'{}' is declared with other parameters than the virtual GPU's", target->name));
    call(name.c_str(), ir_.getVoidTy(), {context_argument_, site_number(), mask, arguments, results});
  } else {
    call_each(read_vector(callee, ScalarType::b64), *signature, mask, arguments, results);
  }
  for (std::size_t k = 0; k < i.results.size(); ++k) {
    Value* from = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), results, out.word[k] * kPlaneBytes);
    const Operand& r = i.results[k];
    if (r.kind == OperandKind::variable)
      copy_planes(param_planes(r.index), from, (function_.variables[r.index].size + 3) / 4);
    else if (r.kind == OperandKind::reg)
      write(r, load_plane(from, 0, element(function_.registers[r.index].type)), function_.registers[r.index].type);
  }
  if (!target || target->has_body) after_call(exited);
}

}  // namespace warpgrind::jit
