// Lowering of mma and mma.sp with block scaling (PTX ISA, "Block scaling for mma.sync").
#include "jit/calls/block_scaled_matrix.h"

#include "codegen/families/families.h"
#include "codegen/families/fragments.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

// .scale_vec_size, or what the manual gives where it is left out.
unsigned scales_of_row(const Instruction& i) {
  if (i.has(Modifier::scale_vec_4X)) return 4;
  return i.has(Modifier::scale_vec_2X) || i.has(Modifier::kind_mxf4) ? 2 : 1;
}

// Combinations that ptxas takes: .kind, the scales of a row, their type, the depth of a product.
bool is_block_scaling(const Instruction& i, unsigned depth) {
  const bool sparse = i.opcode == Opcode::mma_sp, fours = !i.has(Modifier::kind_mxf8f6f4);
  const ScalarType scale = i.types.back();
  const unsigned scales = scales_of_row(i);
  if (depth != (fours ? 64u : 32u) * (sparse ? 2 : 1)) return false;
  if (i.has(Modifier::kind_mxf8f6f4)) return scales == 1 && scale == ScalarType::ue8m0;
  if (i.has(Modifier::kind_mxf4)) return scales == 2 && scale == ScalarType::ue8m0;
  return i.has(Modifier::kind_mxf4nvf4) &&
         ((scales == 2 && scale == ScalarType::ue8m0) || (scales == 4 && scale == ScalarType::ue4m3));
}

// {byte-id, thread-id} of an operand, in 16 bits of each lane.
Value* ids_of(Lowering& l, const Operand& o) {
  llvm::IRBuilder<>& ir = l.ir();
  llvm::Type* words = llvm::FixedVectorType::get(ir.getInt32Ty(), kWarpSize);
  const auto id = [&](unsigned k) { return ir.CreateZExt(l.read_vector(o.elements[k], ScalarType::b16), words); };
  return ir.CreateOr(id(0), ir.CreateShl(id(1), 8));
}

bool is_pair(const Operand& o) {
  return o.kind == OperandKind::vector && o.elements.size() == 2;
}

}  // namespace

void lower_block_scaled_mma(Lowering& l, MatrixShape shape) {
  const Instruction& i = l.instruction();
  if (i.types.size() != 5 || !is_block_scaling(i, shape.k)) return l.unsupported("this block scaling");
  const bool fours = !i.has(Modifier::kind_mxf8f6f4), sparse = i.opcode == Opcode::mma_sp;
  const ScalarType d = i.type(0), a = fours ? ScalarType::e2m1x2 : i.type(1),
                   b = fours ? ScalarType::e2m1x2 : i.type(2);
  if (d != ScalarType::f32 || i.type(3) != d || (fours && (i.type(1) != ScalarType::e2m1 || i.type(2) != i.type(1))))
    return l.unsupported("these types together");
  const std::size_t first = sparse ? 6 : 4;  // operand: scale-a-data
  if (i.operands.size() != first + 4 || !is_pair(i.operands[first + 1]) || !is_pair(i.operands[first + 3]))
    return l.unsupported("block scaling without scales");
  for (const std::size_t one : {sparse ? std::size_t{4} : first, first, first + 2})
    if (registers_of(i.operands[one]).size() != 1) return l.unsupported("scales or metadata of more than one register");
  if (sparse && i.operands[5].bits != 0) return l.unsupported("a sparsity selector that this shape does not have");
  constexpr std::size_t kRegistersOfA = 4, kRegistersOfSums = 4;
  if (registers_of(i.operands[0]).size() != kRegistersOfSums || registers_of(i.operands[1]).size() != kRegistersOfA ||
      registers_of(i.operands[2]).size() != kRegistersOfA / (sparse ? 1 : 2) ||
      registers_of(i.operands[3]).size() != kRegistersOfSums)
    return l.unsupported("a fragment of another number of registers than the shape has");
  llvm::IRBuilder<>& ir = l.ir();
  const auto code = [](ScalarType t) { return static_cast<std::uint32_t>(t); };
  Value* planes[] = {spill(l, i.operands[1], ScalarType::b32), spill(l, i.operands[2], ScalarType::b32),
                     spill(l, i.operands[3], ScalarType::b32)};
  Value* sums = l.scratch(ir.getInt32Ty(), kRegistersOfSums);
  const auto words = [&](std::size_t operand) {
    return store_lanes(l, l.read_vector(registers_of(i.operands[operand]).front(), ScalarType::b32));
  };
  Value* ids =
      store_lanes(l, ir.CreateOr(ids_of(l, i.operands[first + 1]), ir.CreateShl(ids_of(l, i.operands[first + 3]), 16)));
  Value* metadata = sparse ? words(4) : llvm::ConstantPointerNull::get(ir.getPtrTy());
  const std::uint32_t flags = scales_of_row(i) | (i.types.back() == ScalarType::ue4m3 ? kScalesHaveMantissa : 0);
  Value *scales_of_a = words(first), *scales_of_b = words(first + 2);
  l.meet_all();
  l.call("wg_mma_block_scaled", ir.getVoidTy(),
         {ir.getInt32(shape.code()), ir.getInt32(code(a) | code(b) << 8), ir.getInt32(flags), sums, planes[0],
          planes[1], planes[2], scales_of_a, scales_of_b, ids, metadata});
  reload(l, i.operands[0], ScalarType::b32, sums);
}

}  // namespace warpgrind::jit
