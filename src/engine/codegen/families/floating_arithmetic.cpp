// Rounding, NaN, min and max, and half-precision conversion of f32 and f64 in LLVM IR.
#include "codegen/families/floating_arithmetic.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

namespace warpgrind::jit {

using llvm::Value;
using ptx::Modifier;
using ptx::ScalarType;

namespace {

// The value's bits as an integer of the same width and shape.
Value* bits_of(llvm::IRBuilder<>& ir, Value* value) {
  llvm::Type* type = value->getType();
  if (type->isIntOrIntVectorTy()) return value;
  return ir.CreateBitCast(value, type->getWithNewType(ir.getIntNTy(type->getScalarSizeInBits())));
}

llvm::Constant* integer_like(Value* value, std::uint64_t bits) {
  return llvm::ConstantInt::get(value->getType(), bits);
}

std::uint64_t sign_bit(Value* value) {
  return std::uint64_t{1} << (value->getType()->getScalarSizeInBits() - 1);
}

const char* const kOpNames[] = {"add", "sub", "mul", "div", "fma", "sqrt"};
const char* const kRoundingNames[] = {"rn", "rz", "rm", "rp"};

llvm::Intrinsic::ID avx512_intrinsic(FloatOp op, bool is_double) {
  switch (op) {
    case FloatOp::add:
      return is_double ? llvm::Intrinsic::x86_avx512_add_pd_512 : llvm::Intrinsic::x86_avx512_add_ps_512;
    case FloatOp::sub:
      return is_double ? llvm::Intrinsic::x86_avx512_sub_pd_512 : llvm::Intrinsic::x86_avx512_sub_ps_512;
    case FloatOp::mul:
      return is_double ? llvm::Intrinsic::x86_avx512_mul_pd_512 : llvm::Intrinsic::x86_avx512_mul_ps_512;
    case FloatOp::div:
      return is_double ? llvm::Intrinsic::x86_avx512_div_pd_512 : llvm::Intrinsic::x86_avx512_div_ps_512;
    case FloatOp::fma:
      return is_double ? llvm::Intrinsic::x86_avx512_vfmadd_pd_512 : llvm::Intrinsic::x86_avx512_vfmadd_ps_512;
    case FloatOp::sqrt:
      return is_double ? llvm::Intrinsic::x86_avx512_sqrt_pd_512 : llvm::Intrinsic::x86_avx512_sqrt_ps_512;
  }
  return llvm::Intrinsic::not_intrinsic;
}

// AVX-512 instructions can encode the rounding mode: 512 bits at a time.
Value* embedded_rounding(Lowering& lowering, FloatOp op, Rounding rounding, bool is_double,
                         llvm::ArrayRef<Value*> arguments) {
  llvm::IRBuilder<>& ir = lowering.ir();
  // _MM_FROUND_NO_EXC | _MM_FROUND_TO_{NEAREST, NEG_INF, POS_INF, ZERO}
  static constexpr unsigned kImmediate[] = {8, 11, 9, 10};
  const unsigned width = is_double ? 8 : 16;
  const unsigned all = llvm::cast<llvm::FixedVectorType>(arguments[0]->getType())->getNumElements();
  llvm::SmallVector<Value*, 4> parts(std::max(1u, all / width));
  for (unsigned at = 0; at < all; at += width) {
    llvm::SmallVector<int, 16> lanes;
    for (unsigned i = 0; i < width; ++i) lanes.push_back(static_cast<int>(at + i));
    llvm::SmallVector<Value*, 4> operands;
    for (Value* a : arguments) operands.push_back(ir.CreateShuffleVector(a, lanes));
    operands.push_back(ir.getInt32(kImmediate[static_cast<unsigned>(rounding)]));
    parts[at / width] = ir.CreateIntrinsic(avx512_intrinsic(op, is_double), {}, operands);
  }
  while (parts.size() > 1) {
    llvm::SmallVector<Value*, 4> joined;
    for (std::size_t i = 0; i < parts.size(); i += 2) {
      const auto count = llvm::cast<llvm::FixedVectorType>(parts[i]->getType())->getNumElements();
      llvm::SmallVector<int, 32> lanes;
      for (unsigned k = 0; k < 2 * count; ++k) lanes.push_back(static_cast<int>(k));
      joined.push_back(ir.CreateShuffleVector(parts[i], parts[i + 1], lanes));
    }
    parts = joined;
  }
  return parts[0];
}

Value* nearest(llvm::IRBuilder<>& ir, FloatOp op, llvm::ArrayRef<Value*> a) {
  switch (op) {
    case FloatOp::add:
      return ir.CreateFAdd(a[0], a[1]);
    case FloatOp::sub:
      return ir.CreateFSub(a[0], a[1]);
    case FloatOp::mul:
      return ir.CreateFMul(a[0], a[1]);
    case FloatOp::div:
      return ir.CreateFDiv(a[0], a[1]);
    case FloatOp::fma:
      return ir.CreateIntrinsic(a[0]->getType(), llvm::Intrinsic::fma, a);
    case FloatOp::sqrt:
      return ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a[0]);
  }
  return nullptr;
}

Value* call_with(Lowering& lowering, const char* name, llvm::Type* element, llvm::ArrayRef<Value*> a) {
  switch (a.size()) {
    case 1:
      return lowering.call_lanes(name, element, {a[0]});
    case 2:
      return lowering.call_lanes(name, element, {a[0], a[1]});
    default:
      return lowering.call_lanes(name, element, {a[0], a[1], a[2]});
  }
}

}  // namespace

bool rounds_in_code(Lowering& lowering) {
  return lowering.ir().GetInsertBlock()->getParent()->hasFnAttribute("warpgrind-avx512f");
}

Rounding rounding_of(const ptx::Instruction& i) {
  if (i.has(Modifier::rz)) return Rounding::zero;
  if (i.has(Modifier::rm)) return Rounding::down;
  if (i.has(Modifier::rp)) return Rounding::up;
  return Rounding::nearest;
}

Value* rounded(Lowering& lowering, FloatOp op, Rounding rounding, ScalarType type, llvm::ArrayRef<Value*> arguments) {
  if (rounding == Rounding::nearest) return nearest(lowering.ir(), op, arguments);
  const bool is_double = type == ScalarType::f64;
  if (arguments[0]->getType()->isVectorTy() && rounds_in_code(lowering))
    return embedded_rounding(lowering, op, rounding, is_double, arguments);
  const std::string name = std::string("wg_") + kOpNames[static_cast<unsigned>(op)] + "_" +
                           kRoundingNames[static_cast<unsigned>(rounding)] + (is_double ? "_f64" : "_f32");
  return call_with(lowering, name.c_str(), lowering.element(type), arguments);
}

Value* fma_to_odd(Lowering& lowering, Value* a, Value* b, Value* c) {
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* down = rounded(lowering, FloatOp::fma, Rounding::down, ScalarType::f32, {a, b, c});
  Value* up = rounded(lowering, FloatOp::fma, Rounding::up, ScalarType::f32, {a, b, c});
  // Inexact: exactly one of the two neighbours is odd. Setting the lowest bit of the one of lesser magnitude gives it.
  // Exact (or NaN): both are the same except for the sign of zero, where the positive one is right.
  Value *a_bits = bits_of(ir, down), *b_bits = bits_of(ir, up);
  Value* lesser = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a_bits, b_bits);
  Value* odd = ir.CreateAnd(ir.CreateOr(a_bits, b_bits), integer_like(a_bits, 1));
  return ir.CreateBitCast(ir.CreateOr(lesser, odd), up->getType());
}

Value* canonical_nan(Lowering& lowering, Value* value) {
  if (!value->getType()->getScalarType()->isFloatTy()) return value;
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* nan = ir.CreateBitCast(integer_like(bits_of(ir, value), 0x7fffffffu), value->getType());
  return ir.CreateSelect(ir.CreateFCmpUNO(value, value), nan, value);
}

Value* flush_subnormal(Lowering& lowering, Value* value) {
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* bits = bits_of(ir, value);
  Value* exponent = ir.CreateAnd(bits, integer_like(bits, 0x7f800000u));
  Value* zero = ir.CreateAnd(bits, integer_like(bits, 0x80000000u));
  return ir.CreateBitCast(ir.CreateSelect(ir.CreateICmpEQ(exponent, integer_like(bits, 0)), zero, bits),
                          value->getType());
}

Value* saturate(Lowering& lowering, Value* value) {
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* zero = llvm::ConstantFP::get(value->getType(), 0.0);
  Value* one = llvm::ConstantFP::get(value->getType(), 1.0);
  value = ir.CreateSelect(ir.CreateFCmpOGT(value, zero), value, zero);
  return ir.CreateSelect(ir.CreateFCmpOLT(value, one), value, one);
}

Value* magnitude(Lowering& lowering, Value* value) {
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* bits = bits_of(ir, value);
  return ir.CreateBitCast(ir.CreateAnd(bits, integer_like(bits, sign_bit(value) - 1)), value->getType());
}

Value* with_sign_of(Lowering& lowering, Value* value, Value* sign) {
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* bits = bits_of(ir, magnitude(lowering, value));
  Value* sign_bits = bits_of(ir, sign);
  return ir.CreateBitCast(ir.CreateOr(bits, ir.CreateAnd(sign_bits, integer_like(sign_bits, sign_bit(sign)))),
                          value->getType());
}

Value* minimum_or_maximum(Lowering& lowering, Value* a, Value* b, bool maximum) {
  llvm::IRBuilder<>& ir = lowering.ir();
  const bool propagate = lowering.instruction().has(Modifier::NaN);
  const bool xorsign = lowering.instruction().has(Modifier::xorsign);
  Value* sign = nullptr;
  if (xorsign) {
    sign = ir.CreateXor(bits_of(ir, a), bits_of(ir, b));
    a = magnitude(lowering, a);
    b = magnitude(lowering, b);
  }
  Value* a_first = maximum ? ir.CreateFCmpOGT(a, b) : ir.CreateFCmpOLT(a, b);
  Value* r = ir.CreateSelect(a_first, a, b);
  if (!xorsign) {  // -0 is below +0
    Value* equal = ir.CreateFCmpOEQ(a, b);
    Value* zero = maximum ? ir.CreateAnd(bits_of(ir, a), bits_of(ir, b)) : ir.CreateOr(bits_of(ir, a), bits_of(ir, b));
    r = ir.CreateSelect(equal, ir.CreateBitCast(zero, a->getType()), r);
  }
  // Up to here, a NaN in either operand gives b.
  r = ir.CreateSelect(propagate ? ir.CreateFCmpUNO(a, a) : ir.CreateFCmpUNO(b, b), a, r);
  if (sign)
    r = ir.CreateBitCast(ir.CreateOr(bits_of(ir, r), ir.CreateAnd(sign, integer_like(sign, sign_bit(r)))),
                         r->getType());
  if (r->getType()->getScalarType()->isDoubleTy()) {  // two NaNs: b's payload, quiet
    Value* quiet = ir.CreateOr(bits_of(ir, b), integer_like(bits_of(ir, b), 0x0008000000000000u));
    r = ir.CreateSelect(ir.CreateFCmpUNO(r, r), ir.CreateBitCast(quiet, r->getType()), r);
  }
  return r;
}

Value* half_to_float(Lowering& lowering, Value* bits, bool bf16) {
  llvm::IRBuilder<>& ir = lowering.ir();
  llvm::Type* float_type = bits->getType()->getWithNewType(ir.getFloatTy());
  if (!bf16) return ir.CreateFPExt(ir.CreateBitCast(bits, bits->getType()->getWithNewType(ir.getHalfTy())), float_type);
  Value* wide = ir.CreateZExt(bits, bits->getType()->getWithNewType(ir.getInt32Ty()));
  return ir.CreateBitCast(ir.CreateShl(wide, 16), float_type);
}

Value* float_to_half(Lowering& lowering, Value* value, bool bf16) {
  llvm::IRBuilder<>& ir = lowering.ir();
  llvm::Type* i16 = value->getType()->getWithNewType(ir.getInt16Ty());
  Value* narrow = nullptr;
  if (bf16) {  // done here, because the host's own conversion flushes subnormals
    Value* bits = bits_of(ir, value);
    Value* odd = ir.CreateAnd(ir.CreateLShr(bits, 16), integer_like(bits, 1));
    Value* sum = ir.CreateAdd(ir.CreateAdd(bits, integer_like(bits, 0x7fffu)), odd);
    narrow = ir.CreateTrunc(ir.CreateLShr(sum, 16), i16);
  } else {
    narrow = ir.CreateBitCast(ir.CreateFPTrunc(value, value->getType()->getWithNewType(ir.getHalfTy())), i16);
  }
  return ir.CreateSelect(ir.CreateFCmpUNO(value, value), llvm::ConstantInt::get(i16, 0x7fff), narrow);
}

}  // namespace warpgrind::jit
