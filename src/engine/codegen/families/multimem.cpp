// Lowering of PTX ISA, "multimem", and of st.bulk. The device finds the memory of each GPU, and checks, counts and does
// the operation there.
#include <llvm/IR/Constants.h>

#include "codegen/families/families.h"
#include "jit/multimem_operation.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

ScalarType bits_of(ScalarType type) {
  switch (ptx::bits(type)) {
    case 8:
      return ScalarType::b8;
    case 16:
      return ScalarType::b16;
    case 32:
      return ScalarType::b32;
    default:
      return ScalarType::b64;
  }
}

Value* lanes_of_address(Lowering& l, const Operand& o) {
  return store_lanes(l, l.read_vector(o, ScalarType::b64));
}

MultimemCall call_of(const ptx::Instruction& i) {
  MultimemCall call;
  call.type = i.type();
  call.kind = i.opcode == Opcode::multimem_ld_reduce ? MultimemKind::load_reduce
              : i.opcode == Opcode::multimem_st      ? MultimemKind::store
                                                     : MultimemKind::reduce;
  if (call.kind != MultimemKind::store) call.operation = atomic_operation(i);
  call.accumulation = i.has(Modifier::acc_f32)   ? Accumulation::f32
                      : i.has(Modifier::acc_f16) ? Accumulation::f16
                                                 : Accumulation::same;
  return call;
}

}  // namespace

// multimem.ld_reduce d, [a]; multimem.st and .red [a], b
void lower_multimem(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const MultimemCall call = call_of(i);
  const bool loads = call.kind == MultimemKind::load_reduce;
  const ScalarType type = bits_of(i.type());
  llvm::Type* e = l.element(type);
  const llvm::Align align(e->getPrimitiveSizeInBits() / 8);
  Value* values = l.scratch(e, i.vector);
  const Operand& value = i.operands[loads ? 0 : 1];
  const auto part = [&](unsigned k) -> const Operand& {
    return value.kind == OperandKind::vector ? value.elements[k] : value;
  };
  const auto place = [&](unsigned k) { return ir.CreateConstInBoundsGEP1_64(e, values, std::uint64_t{k} * kWarpSize); };
  if (!loads)
    for (unsigned k = 0; k < i.vector; ++k) ir.CreateAlignedStore(l.read_vector(part(k), type), place(k), align);
  l.call("wg_multimem", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), ir.getInt32(call.encode()),
          lanes_of_address(l, i.operands[loads ? 1 : 0]), l.mask_bits(), values});
  if (!loads) return;
  for (unsigned k = 0; k < i.vector; ++k)
    if (part(k).kind != OperandKind::sink)
      l.write(part(k), ir.CreateAlignedLoad(llvm::FixedVectorType::get(e, kWarpSize), place(k), align), type);
}

// multimem.cp.async.bulk and .cp.reduce.async.bulk [dstMem], [srcMem], size{, byteMask}
void lower_multimem_bulk(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  MultimemCall call;
  if (i.opcode == Opcode::multimem_cp_reduce_async_bulk) {
    call.kind = MultimemKind::reduce;
    call.operation = atomic_operation(i);
    call.type = i.type();
  }
  Value* byte_mask = llvm::ConstantPointerNull::get(ir.getPtrTy());
  if (i.has(Modifier::cp_mask)) {
    if (i.operands.size() < 4) return l.unsupported("a copy with .cp_mask and without a byte mask");
    byte_mask = store_lanes(l, l.read_vector(i.operands[3], ScalarType::b16));
  }
  l.call("wg_multimem_bulk", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), ir.getInt32(call.encode()), lanes_of_address(l, i.operands[0]),
          lanes_of_address(l, i.operands[1]), store_lanes(l, l.read_vector(i.operands[2], ScalarType::b32)), byte_mask,
          l.mask_bits()});
}

// st.bulk{.weak}{.shared::cta} [a], size, 0
void lower_st_bulk(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  if (i.operands[2].bits != 0) return l.unsupported("st.bulk of a value other than 0");
  const Operand& size = i.operands[1];
  const bool number = size.kind == OperandKind::immediate;
  Value* bytes = number ? l.splat(l.ir().getInt64(size.bits)) : l.read_vector(size, ScalarType::b64);
  l.call(
      "wg_store_bulk", l.ir().getVoidTy(),
      {l.context_pointer(), l.site_number(), lanes_of_address(l, i.operands[0]), store_lanes(l, bytes), l.mask_bits()});
}

}  // namespace warpgrind::jit
