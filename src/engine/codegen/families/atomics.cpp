// Lowering of PTX ISA, "atom" and "red". The operation is a call of the device, which checks, counts and performs it
// lane by lane.
#include <llvm/IR/Constants.h>

#include "base/assert.h"
#include "codegen/families/families.h"
#include "codegen/kernel/lower.h"
#include "jit/atomic_operation.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::ScalarType;

}  // namespace

AtomicOperation atomic_operation(const ptx::Instruction& i) {
  using A = AtomicOperation;
  using ptx::Modifier;
  for (Modifier m : i.modifiers) switch (m) {
      case Modifier::add:
        return A::add;
      case Modifier::inc:
        return A::inc;
      case Modifier::dec:
        return A::dec;
      case Modifier::min:
        return A::min;
      case Modifier::max:
        return A::max;
      case Modifier::and_:
        return A::bit_and;
      case Modifier::or_:
        return A::bit_or;
      case Modifier::xor_:
        return A::bit_xor;
      case Modifier::exch:
        return A::exchange;
      case Modifier::cas:
        return A::compare_and_swap;
      default:
        break;
    }
  WG_ASSERT(!"an operation of the opcode's row");
  return A::add;
}

namespace {

// Type in which values are passed: an integer of the same width.
ScalarType carrier(ScalarType t) {
  switch (ptx::bits(t)) {
    case 16:
      return ScalarType::b16;
    case 32:
      return ScalarType::b32;
    case 64:
      return ScalarType::b64;
    default:
      return ScalarType::b128;
  }
}

Value* store_operand(Lowering& l, const ptx::Operand& o, ScalarType type, unsigned count) {
  llvm::Type* e = l.element(type);
  Value* area = l.scratch(e, count);
  for (unsigned k = 0; k < count; ++k) {
    const ptx::Operand& part = o.kind == OperandKind::vector ? o.elements[k] : o;
    Value* at = l.ir().CreateConstInBoundsGEP1_64(e, area, std::uint64_t{k} * kWarpSize);
    l.ir().CreateAlignedStore(l.read_vector(part, type), at, llvm::Align(e->getPrimitiveSizeInBits() / 8));
  }
  return area;
}

// Marks the stored bytes as undefined in lanes with an undefined operand.
void keep_undefined(Lowering& l, const ptx::Operand& o, ScalarType type, Value* addresses) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* any = nullptr;
  for (unsigned k = 0; k < l.instruction().vector; ++k)
    if (Value* bits = l.undefined(o.kind == OperandKind::vector ? o.elements[k] : o, type)) {
      Value* some = ir.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType()));
      any = any ? ir.CreateOr(any, some) : some;
    }
  if (!any) return;
  Value* lanes = ir.CreateAnd(l.mask_bits(), l.lanes_to_bits(any));
  l.call("wg_undefined_update", ir.getVoidTy(), {l.context_pointer(), l.site_number(), addresses, lanes});
}

}  // namespace

void lower_atomic(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const AtomicOperation operation = atomic_operation(i);
  const ScalarType type = carrier(i.type());
  const bool returns = i.opcode == Opcode::atom;
  const std::size_t first = returns ? 1 : 0;
  const unsigned count = i.vector;
  Value* addresses = store_lanes(l, l.in_own_memory(l.read_vector(i.operands[first], ScalarType::b64)));
  Value* b = store_operand(l, i.operands[first + 1], type, count);
  Value* c = operation == AtomicOperation::compare_and_swap ? store_operand(l, i.operands[first + 2], type, 1) : b;
  const bool wanted = returns && l.is_read(i.operands[0]);
  const bool one_address = !wanted && i.space == StateSpace::global && l.is_scalar(i.operands[first]) &&
                           ptx::is_integer(i.type()) && ptx::bits(i.type()) == 32 && count == 1 &&
                           operation <= AtomicOperation::bit_xor && operation != AtomicOperation::inc &&
                           operation != AtomicOperation::dec;
  llvm::Type* e = l.element(type);
  Value* out = wanted ? l.scratch(e, count) : static_cast<Value*>(llvm::ConstantPointerNull::get(ir.getPtrTy()));
  l.call("wg_atomic", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), ir.getInt32(atomic_code(operation, i.type(), one_address)), addresses,
          l.mask_bits(), b, c, out});
  if (operation != AtomicOperation::compare_and_swap) keep_undefined(l, i.operands[first + 1], type, addresses);
  if (!wanted) return;
  for (unsigned k = 0; k < count; ++k) {
    Value* at = ir.CreateConstInBoundsGEP1_64(e, out, std::uint64_t{k} * kWarpSize);
    Value* v = ir.CreateAlignedLoad(llvm::FixedVectorType::get(e, kWarpSize), at,
                                    llvm::Align(e->getPrimitiveSizeInBits() / 8));
    l.write(i.operands[0].kind == OperandKind::vector ? i.operands[0].elements[k] : i.operands[0], v, type);
  }
}

}  // namespace warpgrind::jit
