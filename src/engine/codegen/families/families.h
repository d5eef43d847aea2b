// Lowerings that an opcode's table entry selects by type: `add` is integer, floating-point or half-precision
// arithmetic. Also helpers that several families share.
#pragma once

#include "codegen/kernel/lower.h"
#include "jit/atomic_operation.h"

namespace warpgrind::jit {

void lower_float_arithmetic(Lowering& lowering);  // floating_point.cpp: f32, f64, f32x2
void lower_half_arithmetic(Lowering& lowering);   // half.cpp: f16, bf16 and packed forms

void lower_cvt(Lowering& lowering);       // conversion.cpp
void lower_cvt_pack(Lowering& lowering);  // conversion.cpp

// The operation that the modifiers of an atomic or a reduction name (atomics.cpp).
AtomicOperation atomic_operation(const ptx::Instruction& i);

bool is_half_type(ptx::ScalarType type);

// Whether the instruction treats subnormals as 0.
inline bool flushes(const Lowering& lowering) {
  return lowering.instruction().has(ptx::Modifier::ftz);
}

// Writes each lane's value to scratch memory of the instruction. Returns its address.
inline llvm::Value* store_lanes(Lowering& lowering, llvm::Value* lanes) {
  llvm::Value* area = lowering.scratch(lanes->getType()->getScalarType());
  lowering.ir().CreateAlignedStore(lanes, area, llvm::Align(64));
  return area;
}

}  // namespace warpgrind::jit
