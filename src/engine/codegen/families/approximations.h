// Lowerings of the .approx instructions. The f32 ones equal an H200's bit for bit: they are the instruction sequences
// that ptxas makes for the multi-function unit (jit/calls/multi_function.h). tanh and the half-precision ones are
// vector code within the error bounds of the PTX manual. They use IEEE operations in a fixed order, so that the bits
// are the same on every CPU. Inputs are f32 (one lane or 32). The caller flushes subnormals for .ftz and makes NaN
// results canonical.
#pragma once

#include "codegen/kernel/lower.h"

namespace warpgrind::jit {

llvm::Value* approximate_ex2(Lowering& lowering, llvm::Value* x);   // relative error below 2^-23; subnormal results too
llvm::Value* approximate_tanh(Lowering& lowering, llvm::Value* x);  // relative error below 2^-20
llvm::Value* approximate_ex2_f32(Lowering& lowering, llvm::Value* x);
llvm::Value* approximate_lg2(Lowering& lowering, llvm::Value* x);
llvm::Value* approximate_sin(Lowering& lowering, llvm::Value* x);
llvm::Value* approximate_cos(Lowering& lowering, llvm::Value* x);
llvm::Value* approximate_rcp(Lowering& lowering, llvm::Value* x);
llvm::Value* approximate_rsqrt(Lowering& lowering, llvm::Value* x);
llvm::Value* approximate_sqrt(Lowering& lowering, llvm::Value* x);
llvm::Value* approximate_div(Lowering& lowering, llvm::Value* a, llvm::Value* b);  // div.approx, div.full
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and write only the upper 32 bits of a double.
llvm::Value* approximate_rcp_f64(Lowering& lowering, llvm::Value* x);
llvm::Value* approximate_rsqrt_f64(Lowering& lowering, llvm::Value* x);

}  // namespace warpgrind::jit
