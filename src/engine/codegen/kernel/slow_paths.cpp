#include "codegen/kernel/slow_paths.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "jit/calls/slow_paths.h"

namespace warpgrind::jit {

using events::SlowPath;
using llvm::BasicBlock;
using llvm::Value;
using ptx::Opcode;
using ptx::ScalarType;

Value* SlowPaths::word(Value* bits) const {
  llvm::Type* type = bits->getType();
  if (type->getScalarSizeInBits() == 32) return bits;
  return ir_.CreateTrunc(ir_.CreateLShr(bits, 32), type->getWithNewType(ir_.getInt32Ty()));
}

Value* SlowPaths::exponent(Value* bits) const {
  const unsigned width = bits->getType()->getScalarSizeInBits() == 64 ? 11 : 8;
  return ir_.CreateLShr(ir_.CreateShl(word(bits), 1), 32 - width);
}

Value* SlowPaths::outside(Value* value, std::uint32_t first, std::uint32_t span) const {
  const auto constant = [&](std::uint32_t v) { return llvm::ConstantInt::get(value->getType(), v); };
  return ir_.CreateICmpUGT(ir_.CreateSub(value, constant(first)), constant(span));
}

Value* SlowPaths::leaves_division(Value* a, Value* b) const {
  const DivisionRange range = division_range(a->getType()->getScalarSizeInBits() == 64);
  const auto leaves = [&](Value* value, const DivisionRange::Of& of) {
    return outside(value, static_cast<std::uint32_t>(of.first), static_cast<std::uint32_t>(of.last - of.first));
  };
  Value *first = exponent(a), *second = exponent(b);
  return ir_.CreateOr(ir_.CreateOr(leaves(first, range.dividend), leaves(second, range.divisor)),
                      leaves(ir_.CreateSub(first, second), range.difference));
}

// Quicker than leaves_division(), and true wherever that is: exponents far from the middle of their range.
Value* SlowPaths::extreme(Value* a, Value* b) const {
  const bool doubles = a->getType()->getScalarSizeInBits() == 64;
  const std::uint32_t first = doubles ? 768u << 21 : 65u << 24, last = doubles ? 1277u << 21 : 189u << 24;
  const auto is = [&](Value* bits) { return outside(ir_.CreateShl(word(bits), 1), first, last - first); };
  return ir_.CreateOr(is(a), is(b));
}

void SlowPaths::enter_if(Value* condition, BasicBlock* otherwise) {
  if (condition->getType()->isVectorTy())
    condition = ir_.CreateICmpNE(ir_.CreateAnd(f_.lanes_to_bits(condition), masks_.bits()), ir_.getInt32(0));
  constexpr std::uint32_t kOften = 1000;
  BasicBlock* rare = f_.new_block("slow_path");
  ir_.CreateCondBr(condition, rare, otherwise, llvm::MDBuilder(f_.context()).createBranchWeights(1, kOften));
  ir_.SetInsertPoint(rare);
}

Value* SlowPaths::stored(Value* bits, unsigned which) {
  constexpr unsigned kAlignment = 64;
  llvm::AllocaInst*& area = areas_[which];
  if (!area)
    area = f_.entry_alloca(llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize), "slow_path_operands", kAlignment);
  ir_.CreateAlignedStore(f_.splat(bits), area, llvm::Align(kAlignment));
  return area;
}

void SlowPaths::count() {
  if (!f_.unit.options.counters) return;
  const std::optional<SlowPath> kind = slow_path_of(f_.instruction());
  if (!kind) return;
  const ptx::Instruction& i = f_.instruction();
  const bool twice = i.type() == ScalarType::f64, divides = i.opcode == Opcode::div;
  const ScalarType bits = twice ? ScalarType::b64 : ScalarType::b32;
  Value* a = registers_.read(i.operands[1], bits);
  Value* b = divides ? registers_.read(i.operands[2], bits) : a;
  BasicBlock* next = f_.new_block("usual_path");
  if (divides) {
    enter_if(extreme(a, b), next);
    enter_if(leaves_division(a, b), next);
  } else {
    const OperandRange range = operand_range(*kind);
    enter_if(outside(ir_.CreateShl(word(a), range.shift), range.first, range.span), next);
  }
  Value* counters = counting_.begin_slow_path(*kind);
  std::uint32_t what = static_cast<std::uint32_t>(*kind);
  const bool one_function = f_.unit.functions.size() == 1;
  const auto same = [&](const ptx::Instruction& other) { return slow_path_of(other) == kind; };
  if (one_function && std::ranges::count_if(f_.function.body, same) == 1) what |= kAloneBit;
  if (divides && i.operands[2].kind == ptx::OperandKind::immediate) what |= kConstantDivisorBit;
  Value* first = stored(a, 0);
  Value* second = divides ? stored(b, 1) : first;
  f_.call(twice ? kDoubleSlowPath : kSlowPath, ir_.getVoidTy(),
          {counters, first, second, masks_.bits(), ir_.getInt32(what)});
  ir_.CreateBr(next);
  ir_.SetInsertPoint(next);
}

}  // namespace warpgrind::jit
