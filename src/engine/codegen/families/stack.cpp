// Lowering of PTX ISA, "Stack Manipulation Instructions": stacksave, stackrestore, alloca. Each lane has its own stack
// pointer. The frames of called functions begin after the farthest one (WarpContext::local_top).
#include <llvm/IR/Constants.h>

#include <bit>

#include "codegen/kernel/lower.h"
#include "jit/abi.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::ScalarType;

llvm::Type* pointers(Lowering& l) {
  return llvm::FixedVectorType::get(l.ir().getInt64Ty(), kWarpSize);
}

Value* stack_pointers(Lowering& l) {
  return l.ir().CreateLoad(pointers(l), l.stack_slot());
}

void move_stack_pointers(Lowering& l, Value* to) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* now = ir.CreateSelect(l.mask_vector(), to, stack_pointers(l));
  ir.CreateStore(now, l.stack_slot());
  ir.CreateStore(ir.CreateIntMaxReduce(now),
                 ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), l.context_pointer(), offsetof(WarpContext, local_top)));
}

}  // namespace

// Memory that does not fit causes a fault only when it is accessed.
void lower_alloca(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  const ptx::Instruction& i = l.instruction();
  constexpr std::uint64_t kDefaultAlignment = 8;
  const std::uint64_t alignment = i.operands.size() > 2 ? i.operands[2].bits : kDefaultAlignment;
  if (!std::has_single_bit(alignment)) return l.unsupported("an alignment that is no power of 2");
  // Larger than any stack, and the sum of two is still a valid 32-bit offset.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  const auto number = [&](std::uint64_t n) { return llvm::ConstantInt::get(pointers(l), n); };
  const auto at_most = [&](Value* v) { return ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, v, number(kMost)); };
  Value* size = ir.CreateZExt(l.read_vector(i.operands[1], i.type()), pointers(l));
  Value* begin = ir.CreateAnd(ir.CreateAdd(stack_pointers(l), number(alignment - 1)), number(~(alignment - 1)));
  move_stack_pointers(l, at_most(ir.CreateAdd(begin, at_most(size))));
  l.result(0, ir.CreateTrunc(begin, l.value_type(i.type())), i.type());
}

void lower_stacksave(Lowering& l) {
  const ScalarType type = l.instruction().type();
  l.result(0, l.ir().CreateTrunc(stack_pointers(l), l.value_type(type)), type);
}

void lower_stackrestore(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  move_stack_pointers(l, l.ir().CreateZExt(l.read_vector(i.operands[0], i.type()), pointers(l)));
}

}  // namespace warpgrind::jit
