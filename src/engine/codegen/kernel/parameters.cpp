// ld.param, st.param, and the planes that pass parameters and results of functions.
#include "codegen/kernel/parameters.h"

#include <llvm/IR/Constants.h>

#include <bit>

#include "base/assert.h"
#include "codegen/kernel/signatures.h"

namespace warpgrind::jit {

using llvm::Value;
using ptx::Operand;
using ptx::OperandKind;

Value* Parameters::planes(std::uint32_t v) {
  const auto at = [&](Value* base, std::size_t first, std::size_t count, std::size_t index) {
    const PlaneLayout planes = plane_layout(f_.function.variables, first, count);
    return f_.at(base, planes.word[index] * kPlaneBytes);
  };
  if (!f_.function.is_entry && v < f_.function.parameter_count)
    return at(f_.llvm_function->getArg(2), 0, f_.function.parameter_count, v);
  if (!f_.function.is_entry && v < f_.function.parameter_count + f_.function.result_count)
    return at(f_.llvm_function->getArg(3), f_.function.parameter_count, f_.function.result_count,
              v - f_.function.parameter_count);
  WG_ASSERT(f_.function.variables[v].space == StateSpace::param);
  if (!own_[v]) {
    const std::uint64_t words = (f_.function.variables[v].size + 3) / 4;
    own_[v] = f_.entry_alloca(llvm::ArrayType::get(ir_.getInt32Ty(), words * kWarpSize), "param", 64);
  }
  return own_[v];
}

Value* Parameters::shift_count(unsigned bits, unsigned count) {
  return f_.splat(ir_.getIntN(bits, count));
}

Value* Parameters::load_words(Value* planes, std::uint64_t offset, llvm::Type* element) {
  llvm::Type* plane = llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize);
  const unsigned bits = element->getPrimitiveSizeInBits();
  const auto shaped = [&](llvm::Type* e) { return llvm::FixedVectorType::get(e, kWarpSize); };
  const auto word = [&](std::uint64_t w) {
    return ir_.CreateAlignedLoad(plane, f_.at(planes, w * kPlaneBytes), llvm::Align(64));
  };
  Value* v = word(offset / 4);
  if (bits > 32) {
    llvm::Type* wide = shaped(ir_.getIntNTy(bits));
    v = ir_.CreateZExt(v, wide);
    for (unsigned w = 1; w < bits / 32; ++w)
      v = ir_.CreateOr(v, ir_.CreateShl(ir_.CreateZExt(word(offset / 4 + w), wide), shift_count(bits, 32 * w)));
  } else if (bits < 32) {
    v = ir_.CreateTrunc(ir_.CreateLShr(v, f_.splat(ir_.getInt32(offset % 4 * 8))), shaped(ir_.getIntNTy(bits)));
  }
  return element->isIntegerTy() ? v : ir_.CreateBitCast(v, shaped(element));
}

void Parameters::store_words(Value* planes, std::uint64_t offset, llvm::Type* element, Value* v, bool masked) {
  llvm::Type* plane = llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize);
  const unsigned bits = element->getPrimitiveSizeInBits();
  const auto shaped = [&](llvm::Type* e) { return llvm::FixedVectorType::get(e, kWarpSize); };
  const auto put = [&](std::uint64_t w, Value* value) {
    Value* at = f_.at(planes, w * kPlaneBytes);
    if (masked) value = ir_.CreateSelect(masks_.lanes(), value, ir_.CreateAlignedLoad(plane, at, llvm::Align(64)));
    ir_.CreateAlignedStore(value, at, llvm::Align(64));
  };
  if (!element->isIntegerTy()) v = ir_.CreateBitCast(v, shaped(ir_.getIntNTy(bits)));
  if (bits >= 32) {
    for (unsigned w = 0; w < bits / 32; ++w)
      put(offset / 4 + w, ir_.CreateTrunc(w ? ir_.CreateLShr(v, shift_count(bits, 32 * w)) : v, plane));
  } else {
    const unsigned shift = offset % 4 * 8;
    Value* at = f_.at(planes, offset / 4 * kPlaneBytes);
    Value* old = ir_.CreateAlignedLoad(plane, at, llvm::Align(64));
    Value* kept = ir_.CreateAnd(old, f_.splat(ir_.getInt32(~(((1u << bits) - 1) << shift))));
    put(offset / 4, ir_.CreateOr(kept, ir_.CreateShl(ir_.CreateZExt(v, plane), f_.splat(ir_.getInt32(shift)))));
  }
}

void Parameters::copy(Value* to, Value* from, std::uint64_t words) {
  llvm::Type* plane = llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize);
  if (words > 16) {
    ir_.CreateMemCpy(to, llvm::Align(64), from, llvm::Align(64), words * kPlaneBytes);
    return;
  }
  for (std::uint64_t w = 0; w < words; ++w) {
    Value* v = ir_.CreateAlignedLoad(plane, f_.at(from, w * kPlaneBytes), llvm::Align(64));
    ir_.CreateAlignedStore(v, f_.at(to, w * kPlaneBytes), llvm::Align(64));
  }
}

bool Parameters::access_fits(const Operand& address) {
  const ptx::Instruction& i = f_.instruction();
  const unsigned bytes = ptx::bytes(i.type());
  const std::string problem = parameter_problem(f_.function, address, bytes * i.vector, bytes);
  if (!problem.empty()) f_.refuse(problem);
  return problem.empty();
}

void Parameters::load() {
  const ptx::Instruction& i = f_.instruction();
  const Operand& a = i.operands[1];
  llvm::Type* e = f_.element(i.type());
  const unsigned bytes = e->getPrimitiveSizeInBits() / 8;
  if (!access_fits(a)) return;
  for (unsigned k = 0; k < i.vector; ++k) {
    const Operand& d = i.operands[0].kind == OperandKind::vector ? i.operands[0].elements[k] : i.operands[0];
    const auto offset = static_cast<std::uint64_t>(a.offset) + std::uint64_t{k} * bytes;
    if (f_.function.is_entry && a.index < f_.function.parameter_count) {
      Value* params = f_.context_field(offsetof(WarpContext, params), ir_.getPtrTy(), "params");
      Value* at = f_.at(params, parameter_layout(f_.function)[a.index].offset + offset);
      llvm::LoadInst* load = ir_.CreateAlignedLoad(e, at, llvm::Align(1));
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(f_.context(), {}));
      registers_.write(d, load, i.type());
    } else {
      registers_.write(d, load_words(planes(a.index), offset, e), i.type());
    }
  }
}

Value* Parameters::hold(Value* address, unsigned bytes) {
  WG_ASSERT(std::has_single_bit(bytes));
  const std::uint64_t size = f_.unit.layout->parameter_bytes;
  if (bytes > size) return ir_.getFalse();
  Value* params = f_.context_field(offsetof(WarpContext, params), ir_.getPtrTy(), "params");
  Value* first = ir_.CreatePtrToInt(params, ir_.getInt64Ty());
  const bool lanes = address->getType()->isVectorTy();
  const auto shaped = [&](Value* v) { return lanes ? f_.splat(v) : v; };
  Value* offset = ir_.CreateSub(address, shaped(first));
  Value* inside = ir_.CreateICmpULE(offset, shaped(ir_.getInt64(size - bytes)));
  Value* aligned = ir_.CreateICmpEQ(ir_.CreateAnd(offset, shaped(ir_.getInt64(bytes - 1))), shaped(ir_.getInt64(0)));
  Value* good = ir_.CreateAnd(inside, aligned);
  return lanes ? ir_.CreateAndReduce(ir_.CreateOr(good, ir_.CreateNot(masks_.lanes()))) : good;
}

void Parameters::store() {
  const ptx::Instruction& i = f_.instruction();
  const Operand& a = i.operands[0];
  if (a.base != OperandKind::variable) return f_.refuse("the parameters of a kernel cannot be written");
  llvm::Type* e = f_.element(i.type());
  const unsigned bytes = e->getPrimitiveSizeInBits() / 8;
  if (!access_fits(a)) return;
  const bool is_result = !f_.function.is_entry && a.index < f_.function.parameter_count + f_.function.result_count;
  for (unsigned k = 0; k < i.vector; ++k) {
    const Operand& s = i.operands[1].kind == OperandKind::vector ? i.operands[1].elements[k] : i.operands[1];
    store_words(planes(a.index), static_cast<std::uint64_t>(a.offset) + std::uint64_t{k} * bytes, e,
                registers_.read_vector(s, i.type()), is_result || f_.now.guard);
  }
}

}  // namespace warpgrind::jit
