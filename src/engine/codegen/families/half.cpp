// Lowering of PTX ISA, "Half Precision Floating Point Instructions": f16, bf16 and packed forms, computed in f32. f32
// has more than twice the bits of f16 (11) or bf16 (8). So rounding the result of one f32 operation again is as good as
// a single rounding. fma is rounded to odd in between.
#include "codegen/families/approximations.h"
#include "codegen/families/families.h"
#include "codegen/families/floating_arithmetic.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;

// The NaN, of either sign, that tensor maps can put outside a tensor. fma.oob gives +0 where a factor is it. PTX names
// no bits; of all NaNs an H200 makes +0 of this one, for f16 and bf16.
constexpr std::uint16_t kOobNan = 0x7ff7, kWithoutSign = 0x7fff;

struct Half {
  Lowering& l;
  bool bf16, ftz, sat, relu, oob;
  llvm::IRBuilder<>& ir = l.ir();

  // A number that would be subnormal in f16 (bf16: in f32, which has the same range) becomes a zero of the same sign. A
  // result not rounded yet is tiny if it is tiny after rounding to 11 bits with an unbounded exponent.
  Value* flush(Value* v, double smallest = 0x1p-14) const {
    if (bf16) return flush_subnormal(l, v);
    Value* tiny = ir.CreateFCmpOLT(magnitude(l, v), llvm::ConstantFP::get(v->getType(), smallest));
    return ir.CreateSelect(tiny, with_sign_of(l, llvm::ConstantFP::get(v->getType(), 0.0), v), v);
  }
  Value* read(Value* bits) const {
    Value* v = half_to_float(l, bits, bf16);
    return ftz ? flush(v) : v;
  }
  Value* finish(Value* v) const {
    if (ftz) v = flush(v, 0x1p-14 - 0x1p-26);
    if (sat) v = saturate(l, v);
    Value* bits = float_to_half(l, v, bf16);
    if (!relu) return bits;
    // Negative numbers become +0; a NaN stays.
    Value* negative = ir.CreateFCmpOLE(v, llvm::ConstantFP::get(v->getType(), 0.0));
    return ir.CreateSelect(negative, llvm::Constant::getNullValue(bits->getType()), bits);
  }
  Value* value(llvm::ArrayRef<Value*> a) const {
    const auto f32 = [&](FloatOp op) { return rounded(l, op, Rounding::nearest, ScalarType::f32, a); };
    switch (l.instruction().opcode) {
      case Opcode::add:
        return f32(FloatOp::add);
      case Opcode::sub:
        return f32(FloatOp::sub);
      case Opcode::mul:
        return f32(FloatOp::mul);
      case Opcode::fma:
        return fma_to_odd(l, a[0], a[1], a[2]);
      case Opcode::neg:
        return ir.CreateFNeg(a[0]);
      case Opcode::abs:
        return magnitude(l, a[0]);
      case Opcode::min:
      case Opcode::max: {
        Value* r = a[0];
        for (Value* next : a.drop_front()) r = minimum_or_maximum(l, r, next, l.instruction().opcode == Opcode::max);
        return r;
      }
      case Opcode::ex2:
        return approximate_ex2(l, a[0]);
      case Opcode::tanh:
        return approximate_tanh(l, a[0]);
      default:
        l.unsupported("this operation on half-precision values");
        return a[0];
    }
  }
  Value* result(llvm::ArrayRef<Value*> bits) const {
    llvm::SmallVector<Value*, 3> a;
    for (Value* b : bits) a.push_back(read(b));
    Value* out = finish(value(a));
    if (!oob) return out;
    for (Value* factor : bits.take_front(2)) {
      llvm::Type* type = factor->getType();
      Value* magnitude = ir.CreateAnd(factor, llvm::ConstantInt::get(type, kWithoutSign));
      Value* outside = ir.CreateICmpEQ(magnitude, llvm::ConstantInt::get(type, kOobNan));
      out = ir.CreateSelect(outside, llvm::Constant::getNullValue(out->getType()), out);
    }
    return out;
  }
};

// True if both halves of all lanes are computed as one vector of 64 elements in place, without splitting (__hfma2 takes
// half the time). False for operations that need vectors of 32 lanes.
bool goes_side_by_side(Lowering& l) {
  if (l.scalar()) return false;
  switch (l.instruction().opcode) {
    case Opcode::fma:
      return rounds_in_code(l);
    case Opcode::ex2:
    case Opcode::tanh:
      return false;
    default:
      return true;
  }
}

}  // namespace

void lower_half_arithmetic(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const ScalarType type = i.type();
  const bool packed = type == ScalarType::f16x2 || type == ScalarType::bf16x2;
  const bool bf16 = type == ScalarType::bf16 || type == ScalarType::bf16x2;
  const Half half{l, bf16, i.has(Modifier::ftz), i.has(Modifier::sat), i.has(Modifier::relu), i.has(Modifier::oob)};
  llvm::IRBuilder<>& ir = l.ir();
  if (packed && goes_side_by_side(l)) {
    llvm::Type* halves = llvm::FixedVectorType::get(ir.getInt16Ty(), 2 * kWarpSize);
    llvm::SmallVector<Value*, 3> sources;
    for (std::size_t k = 1; k < i.operands.size(); ++k)
      sources.push_back(ir.CreateBitCast(l.source(k, ScalarType::b32), halves));
    return l.result(0, ir.CreateBitCast(half.result(sources), l.value_type(ScalarType::b32)), ScalarType::b32);
  }
  llvm::SmallVector<Value*, 3> low, high;
  for (std::size_t k = 1; k < i.operands.size(); ++k) {
    if (!packed) {
      low.push_back(l.source(k, ScalarType::b16));
      continue;
    }
    Value* both = l.source(k, ScalarType::b32);
    low.push_back(ir.CreateTrunc(both, l.value_type(ScalarType::b16)));
    high.push_back(ir.CreateTrunc(ir.CreateLShr(both, l.constant(ScalarType::b32, 16)), l.value_type(ScalarType::b16)));
  }
  if (!packed) return l.result(0, half.result(low), ScalarType::b16);
  Value* first = ir.CreateZExt(half.result(low), l.value_type(ScalarType::b32));
  Value* second =
      ir.CreateShl(ir.CreateZExt(half.result(high), l.value_type(ScalarType::b32)), l.constant(ScalarType::b32, 16));
  l.result(0, ir.CreateOr(first, second), ScalarType::b32);
}

}  // namespace warpgrind::jit
