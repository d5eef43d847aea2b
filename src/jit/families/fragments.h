// The registers of a matrix, as the instructions that move and multiply matrices have them, in memory for functions in
// C++: one plane of 32 lanes a register, one behind the other.
#pragma once

#include "jit/kernel/lower.h"

namespace warpgrind::jit {

// The registers of a fragment operand: {a, b, ...} or a single one.
inline llvm::ArrayRef<ptx::Operand> registers_of(const ptx::Operand& o) {
  return o.kind == ptx::OperandKind::vector ? llvm::ArrayRef<ptx::Operand>(o.elements)
                                            : llvm::ArrayRef<ptx::Operand>(o);
}

// `word`: b32 or b64, of each register. The planes are scratch memory of this instruction.
llvm::Value* spill(Lowering& l, const ptx::Operand& o, ptx::ScalarType word);
void reload(Lowering& l, const ptx::Operand& o, ptx::ScalarType word, llvm::Value* planes);

}  // namespace warpgrind::jit
