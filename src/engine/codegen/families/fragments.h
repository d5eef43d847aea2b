// Conversion of a matrix fragment between registers and memory, for functions in C++. Memory holds one plane of 32
// lanes per register, one after the other.
#pragma once

#include "codegen/kernel/lower.h"
#include "jit/calls/matrix.h"

namespace warpgrind::jit {

// The registers of a fragment operand: {a, b, ...} or a single one.
inline llvm::ArrayRef<ptx::Operand> registers_of(const ptx::Operand& o) {
  return o.kind == ptx::OperandKind::vector ? llvm::ArrayRef<ptx::Operand>(o.elements)
                                            : llvm::ArrayRef<ptx::Operand>(o);
}

// `word`: type of each register, b32 or b64. The planes are scratch memory of this instruction.
llvm::Value* spill(Lowering& l, const ptx::Operand& o, ptx::ScalarType word);
void reload(Lowering& l, const ptx::Operand& o, ptx::ScalarType word, llvm::Value* planes);

// mma and mma.sp with .block_scale: block_scaled_matrix.cpp.
void lower_block_scaled_mma(Lowering& l, MatrixShape shape);

}  // namespace warpgrind::jit
