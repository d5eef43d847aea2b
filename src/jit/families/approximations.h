// The .approx instructions as vector code within the error bounds of the PTX manual. Only IEEE operations in a fixed
// order are used (no estimate instructions of the host), so the bits are the same on every CPU. Inputs are f32 (one
// lane or 32); the caller flushes subnormals for .ftz and makes NaN results canonical.
#pragma once

#include "jit/kernel/lower.h"

namespace warpgrind::jit {

llvm::Value* approximate_ex2(Lowering& lowering, llvm::Value* x);   // relative error below 2^-23; subnormal results too
llvm::Value* approximate_lg2(Lowering& lowering, llvm::Value* x);   // relative error below 2^-22, near 1 too
llvm::Value* approximate_sin(Lowering& lowering, llvm::Value* x);   // absolute error below 2^-22 for |x| < 2^16
llvm::Value* approximate_cos(Lowering& lowering, llvm::Value* x);   // the same
llvm::Value* approximate_tanh(Lowering& lowering, llvm::Value* x);  // relative error below 2^-20
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and write only the upper 32 bits of a double.
llvm::Value* approximate_rcp_f64(Lowering& lowering, llvm::Value* x);
llvm::Value* approximate_rsqrt_f64(Lowering& lowering, llvm::Value* x);

}  // namespace warpgrind::jit
