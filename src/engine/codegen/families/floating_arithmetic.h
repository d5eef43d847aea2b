// Building blocks of the floating-point lowerings: rounding, flushing, saturation and NaN rules of f32 and f64. The
// hardware's behaviour was recorded on an H200 (tests/exec). Every NaN result of f32 is 0x7fffffff. f64 keeps the
// payload of a NaN operand (which one of several is not specified here). .ftz flushes a result that would be subnormal
// if the exponent range were unlimited.
#pragma once

#include "codegen/kernel/lower.h"

namespace warpgrind::jit {

enum class Rounding : std::uint8_t { nearest, zero, down, up };
enum class FloatOp : std::uint8_t { add, sub, mul, div, fma, sqrt };

Rounding rounding_of(const ptx::Instruction& instruction);  // .rn if none is given

// The correctly rounded operation. `type` is f32 or f64; the number of arguments is that of the operation.
llvm::Value* rounded(Lowering& lowering, FloatOp op, Rounding rounding, ptx::ScalarType type,
                     llvm::ArrayRef<llvm::Value*> arguments);
// True: machine code rounds vectors of any length in every rounding mode. False: calls for 32 lanes do it unless the
// mode is to nearest.
bool rounds_in_code(Lowering& lowering);
// fma of f32 values, rounded to odd. Rounding this result to half precision gives the same as a single rounding.
llvm::Value* fma_to_odd(Lowering& lowering, llvm::Value* a, llvm::Value* b, llvm::Value* c);

llvm::Value* canonical_nan(Lowering& lowering,
                           llvm::Value* value);  // f32: any NaN becomes 0x7fffffff; others unchanged
llvm::Value* flush_subnormal(Lowering& lowering, llvm::Value* value);  // f32: subnormal -> zero of the same sign
llvm::Value* saturate(Lowering& lowering, llvm::Value* value);         // [+0, 1], NaN -> +0
llvm::Value* magnitude(Lowering& lowering, llvm::Value* value);
llvm::Value* with_sign_of(Lowering& lowering, llvm::Value* value, llvm::Value* sign);

// min and max with their modifiers (.NaN, .xorsign.abs); a NaN result is not canonical yet.
llvm::Value* minimum_or_maximum(Lowering& lowering, llvm::Value* a, llvm::Value* b, bool maximum);

// f16 and bf16 as i16 to f32 (exact) and back (to nearest even; NaN becomes 0x7fff).
llvm::Value* half_to_float(Lowering& lowering, llvm::Value* bits, bool bf16);
llvm::Value* float_to_half(Lowering& lowering, llvm::Value* value, bool bf16);

}  // namespace warpgrind::jit
