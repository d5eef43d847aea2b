// Lowering of cvt in all type pairs (PTX ISA, "Data Movement and Conversion Instructions"). NaN results are those of an
// H200 (tests/exec). Conversions from or to f64, and from bf16 to f32, keep the sign and the upper payload. Every other
// conversion gives the format's one NaN.
#include "jit/calls/conversion.h"

#include <llvm/IR/Constants.h>

#include "codegen/families/families.h"
#include "codegen/families/floating_arithmetic.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::ScalarType;

bool is_scalar_half(ScalarType t) {
  return t == ScalarType::f16 || t == ScalarType::bf16;
}

Value* real(Value* like, double v) {
  return llvm::ConstantFP::get(like->getType(), v);
}

// The operand's register may be wider than the source type: source() truncates.
void convert_integers(Lowering& l, ScalarType to, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, from);
  const bool from_signed = ptx::is_signed(from), to_signed = ptx::is_signed(to);
  if (!l.instruction().has(Modifier::sat)) {
    llvm::Type* target = l.value_type(to);
    return l.result(0, from_signed ? ir.CreateSExtOrTrunc(a, target) : ir.CreateZExtOrTrunc(a, target), to);
  }
  // Clamps in the source's type. Limits that the source cannot exceed are left out.
  const unsigned width = ptx::bits(from), target_width = ptx::bits(to);
  const unsigned low_bits = to_signed ? target_width - 1 : 0, high_bits = to_signed ? target_width - 1 : target_width;
  if (from_signed && (!to_signed || target_width < width)) {
    const llvm::APInt low =
        to_signed ? llvm::APInt::getSignedMinValue(low_bits + 1).sext(width) : llvm::APInt(width, 0);
    a = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, llvm::ConstantInt::get(a->getType(), low));
  }
  if (high_bits < (from_signed ? width - 1 : width)) {
    Value* high = llvm::ConstantInt::get(a->getType(), llvm::APInt::getLowBitsSet(width, high_bits));
    a = ir.CreateBinaryIntrinsic(from_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, high);
  }
  llvm::Type* target = l.value_type(to);
  l.result(0, from_signed ? ir.CreateSExtOrTrunc(a, target) : ir.CreateZExtOrTrunc(a, target), to);
}

// Rounds to an integral value in the same format.
Value* round_integral(Lowering& l, Value* v) {
  const ptx::Instruction& i = l.instruction();
  llvm::Intrinsic::ID id = llvm::Intrinsic::not_intrinsic;
  if (i.has(Modifier::rni)) id = llvm::Intrinsic::roundeven;
  if (i.has(Modifier::rzi)) id = llvm::Intrinsic::trunc;
  if (i.has(Modifier::rmi)) id = llvm::Intrinsic::floor;
  if (i.has(Modifier::rpi)) id = llvm::Intrinsic::ceil;
  return id == llvm::Intrinsic::not_intrinsic ? v : l.ir().CreateUnaryIntrinsic(id, v);
}

// A floating-point source as f32 or f64.
Value* float_source(Lowering& l, ScalarType from) {
  if (is_scalar_half(from)) return half_to_float(l, l.source(1, ScalarType::b16), from == ScalarType::bf16);
  Value* v = l.source(1, from == ScalarType::tf32 ? ScalarType::f32 : from);
  if (from == ScalarType::f32 && l.instruction().has(Modifier::ftz)) v = flush_subnormal(l, v);
  return v;
}

// Values out of range saturate. NaN gives 0, but 100...0 if the source is f64 or the result has 64 bits.
void convert_float_to_integer(Lowering& l, ScalarType to, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* v = round_integral(l, float_source(l, from));
  Value* r = ir.CreateIntrinsic(ptx::is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                                {l.value_type(to), v->getType()}, {v});
  if (ptx::bits(to) == 64 || from == ScalarType::f64)
    r = ir.CreateSelect(ir.CreateFCmpUNO(v, v), l.constant(to, std::uint64_t{1} << (ptx::bits(to) - 1)), r);
  l.result(0, r, to);
}

// The next representable value above or below.
Value* step(Lowering& l, Value* v, bool up) {
  llvm::IRBuilder<>& ir = l.ir();
  const ScalarType b32 = ScalarType::b32;
  Value* bits = ir.CreateBitCast(v, l.value_type(b32));
  Value* one = l.constant(b32, 1);
  Value* negative = ir.CreateICmpSLT(bits, l.constant(b32, 0));
  Value* away = ir.CreateAdd(bits, one);
  Value* toward = ir.CreateSub(bits, one);
  Value* moved = up ? ir.CreateSelect(negative, toward, away) : ir.CreateSelect(negative, away, toward);
  moved = ir.CreateSelect(ir.CreateFCmpOEQ(v, real(v, 0)), l.constant(b32, up ? 1 : 0x80000001u), moved);
  return ir.CreateBitCast(moved, v->getType());
}

// f64 -> f32 in any rounding mode: the nearest result, moved by one step if it lies on the wrong side of the source.
Value* narrow(Lowering& l, Value* wide) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* n = ir.CreateFPTrunc(wide, l.value_type(ScalarType::f32));
  const Rounding rounding = rounding_of(l.instruction());
  if (rounding == Rounding::nearest) return n;
  Value* back = ir.CreateFPExt(n, wide->getType());
  const auto raise = [&] { return ir.CreateSelect(ir.CreateFCmpOLT(back, wide), step(l, n, true), n); };
  const auto lower = [&] { return ir.CreateSelect(ir.CreateFCmpOGT(back, wide), step(l, n, false), n); };
  if (rounding == Rounding::up) return raise();
  if (rounding == Rounding::down) return lower();
  return ir.CreateSelect(ir.CreateFCmpOLT(wide, real(wide, 0)), raise(), lower());
}

// .ftz of a result narrowed from f64. The result is tiny if it is tiny after rounding with an unbounded exponent.
Value* flush_narrowed(Lowering& l, Value* n, Value* wide) {
  llvm::IRBuilder<>& ir = l.ir();
  const Rounding rounding = rounding_of(l.instruction());
  Value* size = magnitude(l, wide);
  Value* tiny = ir.CreateFCmpOLT(size, real(wide, 0x1p-126));
  if (rounding == Rounding::nearest) tiny = ir.CreateFCmpOLT(size, real(wide, 0x1p-126 - 0x1p-151));
  if (rounding == Rounding::up || rounding == Rounding::down) {
    Value* negative = ir.CreateFCmpOLT(wide, real(wide, 0));
    Value* away = rounding == Rounding::up ? ir.CreateNot(negative) : negative;
    tiny = ir.CreateSelect(away, ir.CreateFCmpOLE(size, real(wide, 0x1p-126 - 0x1p-150)), tiny);
  }
  return ir.CreateSelect(tiny, with_sign_of(l, real(n, 0), n), n);
}

// An f64 that rounds like the integer to any format of at most 32 significant bits. Exact for up to 53 bits; of longer
// integers, the low bits are combined into one sticky bit.
Value* integer_as_double(Lowering& l, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, from);
  const bool s = ptx::is_signed(from);
  llvm::Type* type = l.value_type(ScalarType::f64);
  if (ptx::bits(from) == 64) {
    Value* low = l.constant(from, 0x7ff);
    Value* sticky = ir.CreateSelect(ir.CreateICmpNE(ir.CreateAnd(a, low), l.constant(from, 0)), l.constant(from, 0x800),
                                    l.constant(from, 0));
    Value* size = s ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, ir.getInt1(false)) : a;
    Value* large = ir.CreateICmpUGE(size, l.constant(from, std::uint64_t{1} << 53));
    a = ir.CreateSelect(large, ir.CreateOr(ir.CreateAnd(a, ir.CreateNot(low)), sticky), a);
  }
  return s ? ir.CreateSIToFP(a, type) : ir.CreateUIToFP(a, type);
}

// Conversion to f16, bf16, e4m3 or e5m2 by a C++ function, exact for every source. Returns the bits in an i32.
Value* round_in_runtime(Lowering& l, Value* v, SmallFormat format, std::uint32_t flags = 0) {
  llvm::IRBuilder<>& ir = l.ir();
  const ptx::Instruction& i = l.instruction();
  if (!v->getType()->getScalarType()->isDoubleTy()) v = ir.CreateFPExt(v, l.value_type(ScalarType::f64));
  std::uint32_t how =
      static_cast<std::uint32_t>(format) | flags | static_cast<std::uint32_t>(rounding_of(i)) << kRoundingShift;
  if (i.has(Modifier::relu)) how |= kRoundRelu;
  if (i.has(Modifier::satfinite)) how |= kRoundSatfinite;
  return l.call_lanes("wg_round_f64", ir.getInt32Ty(), {v, l.constant(ScalarType::b32, how)});
}

SmallFormat small_format(ScalarType t) {
  return t == ScalarType::bf16 || t == ScalarType::bf16x2 ? SmallFormat::bf16 : SmallFormat::f16;
}

// f32 to half precision, with the instruction's rounding and .relu.
Value* to_half(Lowering& l, Value* v, ScalarType to) {
  llvm::IRBuilder<>& ir = l.ir();
  const ptx::Instruction& i = l.instruction();
  if (rounding_of(i) != Rounding::nearest || i.has(Modifier::satfinite))
    return ir.CreateTrunc(round_in_runtime(l, v, small_format(to)), l.value_type(ScalarType::b16));
  if (i.has(Modifier::relu)) v = ir.CreateSelect(ir.CreateFCmpOLE(v, real(v, 0)), real(v, 0), v);
  return float_to_half(l, v, small_format(to) == SmallFormat::bf16);
}

void convert_integer_to_float(Lowering& l, ScalarType to, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  const Rounding rounding = rounding_of(l.instruction());
  const bool s = ptx::is_signed(from);
  if (is_scalar_half(to)) {
    Value* r = round_in_runtime(l, integer_as_double(l, from), small_format(to));
    return l.result(0, ir.CreateTrunc(r, l.value_type(ScalarType::b16)), ScalarType::b16);
  }
  Value* v = nullptr;
  if (rounding == Rounding::nearest) {
    Value* a = l.source(1, from);
    v = s ? ir.CreateSIToFP(a, l.value_type(to)) : ir.CreateUIToFP(a, l.value_type(to));
  } else if (to == ScalarType::f32) {
    v = narrow(l, integer_as_double(l, from));
  } else if (ptx::bits(from) < 64) {
    v = integer_as_double(l, from);
  } else {  // both halves are exact, so one addition rounds once
    Value* a = l.source(1, from);
    Value* high = s ? ir.CreateAShr(a, l.constant(from, 32)) : ir.CreateLShr(a, l.constant(from, 32));
    Value* low = ir.CreateAnd(a, l.constant(from, 0xffffffffu));
    llvm::Type* type = l.value_type(to);
    high = ir.CreateFMul(s ? ir.CreateSIToFP(high, type) : ir.CreateUIToFP(high, type),
                         llvm::ConstantFP::get(type, 0x1p32));
    v = rounded(l, FloatOp::add, rounding, to, {high, ir.CreateUIToFP(low, type)});
  }
  if (l.instruction().has(Modifier::sat)) v = saturate(l, v);
  l.result(0, v, to);
}

// tf32: 10 bits of mantissa in the upper part of the register. Rounds to nearest with ties away (.rna) or to even
// (.rn), or towards zero.
void convert_to_tf32(Lowering& l, Value* v) {
  llvm::IRBuilder<>& ir = l.ir();
  const ptx::Instruction& i = l.instruction();
  const auto number = [&](std::uint32_t n) { return l.constant(ScalarType::b32, n); };
  Value* nan = ir.CreateFCmpUNO(v, v);
  if (i.has(Modifier::relu)) v = ir.CreateSelect(ir.CreateFCmpOLE(v, real(v, 0)), real(v, 0), v);
  Value* bits = ir.CreateBitCast(v, l.value_type(ScalarType::b32));
  Value* up = number(0x1000);
  if (i.has(Modifier::rn)) up = ir.CreateAdd(number(0xfff), ir.CreateAnd(ir.CreateLShr(bits, number(13)), number(1)));
  if (i.has(Modifier::rz)) up = number(0);
  Value* r = ir.CreateAnd(ir.CreateAdd(bits, up), number(0xffffe000u));
  const bool keep = i.has(Modifier::rna);
  Value* nan_bits = keep ? ir.CreateAnd(bits, number(0xffffe000u)) : number(0x7fffe000u);
  r = ir.CreateSelect(nan, nan_bits, r);
  if (i.has(Modifier::satfinite)) {  // the next number towards zero; an H200 does the same to the bits of a NaN
    const std::uint32_t exponent = 0x7f800000u;
    Value* limit = ir.CreateAnd(r, number(keep ? exponent : 0x7fffffffu));
    r = ir.CreateSelect(ir.CreateICmpEQ(limit, number(exponent)), ir.CreateSub(r, number(0x2000)), r);
  }
  l.result(0, r, ScalarType::b32);
}

void convert_floats(Lowering& l, ScalarType to, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  const ptx::Instruction& i = l.instruction();
  Value* v = round_integral(l, float_source(l, from));
  const bool wide = from == ScalarType::f64;
  if (to == ScalarType::tf32) return convert_to_tf32(l, v);
  if (is_scalar_half(to)) {
    if (i.has(Modifier::sat)) v = saturate(l, v);
    Value* r =
        wide ? ir.CreateTrunc(round_in_runtime(l, v, small_format(to), kRoundKeepNan), l.value_type(ScalarType::b16))
             : to_half(l, v, to);
    return l.result(0, r, ScalarType::b16);
  }
  bool one_nan = from != ScalarType::bf16 || i.has(Modifier::ftz);
  if (to == ScalarType::f64 && !wide) {
    if (i.has(Modifier::ftz)) v = canonical_nan(l, v);
    v = ir.CreateFPExt(v, l.value_type(to));
  } else if (to == ScalarType::f32 && wide) {
    Value* n = narrow(l, v);
    v = i.has(Modifier::ftz) ? flush_narrowed(l, n, v) : n;
    one_nan = false;
  }
  if (i.has(Modifier::sat)) v = saturate(l, v);
  if (to == ScalarType::f32 && !wide && i.has(Modifier::ftz)) v = flush_subnormal(l, v);
  l.result(0, one_nan ? canonical_nan(l, v) : v, to);
}

// Part `k` of a packed source as f32.
Value* half_part(Lowering& l, Value* pair, unsigned k, bool bf16) {
  llvm::IRBuilder<>& ir = l.ir();
  if (k) pair = ir.CreateLShr(pair, l.constant(ScalarType::b32, 16));
  return half_to_float(l, ir.CreateTrunc(pair, l.value_type(ScalarType::b16)), bf16);
}

// cvt.rn.f16x2.f32 d, a, b: a in the upper half.
void convert_to_half_pair(Lowering& l, ScalarType to) {
  llvm::IRBuilder<>& ir = l.ir();
  const auto half = [&](std::size_t k) {
    return ir.CreateZExt(to_half(l, l.source(k, ScalarType::f32), to), l.value_type(ScalarType::b32));
  };
  Value* high = ir.CreateShl(half(1), l.constant(ScalarType::b32, 16));
  l.result(0, ir.CreateOr(high, half(2)), ScalarType::b32);
}

bool is_fp8_pair(ScalarType t) {
  return t == ScalarType::e4m3x2 || t == ScalarType::e5m2x2;
}

// A byte (in an i32) as f32; e5m2 is the upper half of an f16.
Value* fp8_to_float(Lowering& l, Value* byte, bool e4m3) {
  llvm::IRBuilder<>& ir = l.ir();
  const auto number = [&](std::uint32_t n) { return l.constant(ScalarType::b32, n); };
  if (!e4m3)
    return half_to_float(l, ir.CreateTrunc(ir.CreateShl(byte, number(8)), l.value_type(ScalarType::b16)), false);
  llvm::Type* f32 = l.value_type(ScalarType::f32);
  Value* size = ir.CreateAnd(byte, number(0x7f));
  // Shifts exponent and mantissa to their place in f32, then multiplies by the difference of the biases. This is right
  // for subnormals, too.
  Value* v = ir.CreateFMul(ir.CreateBitCast(ir.CreateShl(size, number(20)), f32), llvm::ConstantFP::get(f32, 0x1p120));
  v = ir.CreateSelect(ir.CreateICmpEQ(size, number(0x7f)), ir.CreateBitCast(number(0x7fffffffu), f32), v);
  Value* sign = ir.CreateShl(ir.CreateAnd(byte, number(0x80)), number(24));
  return ir.CreateBitCast(ir.CreateOr(ir.CreateBitCast(v, byte->getType()), sign), f32);
}

void convert_fp8(Lowering& l, ScalarType to, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  const auto number = [&](std::uint32_t n) { return l.constant(ScalarType::b32, n); };
  if (is_fp8_pair(from) && to == ScalarType::f16x2) {
    Value* pair = ir.CreateZExt(l.source(1, ScalarType::b16), l.value_type(ScalarType::b32));
    const auto half = [&](unsigned k) {
      Value* byte = ir.CreateAnd(ir.CreateLShr(pair, number(8 * k)), number(0xff));
      Value* v = fp8_to_float(l, byte, from == ScalarType::e4m3x2);
      return ir.CreateZExt(to_half(l, v, ScalarType::f16), l.value_type(ScalarType::b32));
    };
    Value* low = half(0);
    return l.result(0, ir.CreateOr(low, ir.CreateShl(half(1), number(16))), ScalarType::b32);
  }
  const bool from_pair = from == ScalarType::f16x2 || from == ScalarType::bf16x2;
  if (!is_fp8_pair(to) || (from != ScalarType::f32 && !from_pair)) return l.unsupported("this pair of types");
  const SmallFormat format = to == ScalarType::e4m3x2 ? SmallFormat::e4m3 : SmallFormat::e5m2;
  Value* high = nullptr;
  Value* low = nullptr;
  if (from_pair) {
    Value* pair = l.source(1, ScalarType::b32);
    high = half_part(l, pair, 1, from == ScalarType::bf16x2);
    low = half_part(l, pair, 0, from == ScalarType::bf16x2);
  } else {
    high = l.source(1, from);
    low = l.source(2, from);
  }
  Value* r = ir.CreateOr(ir.CreateShl(round_in_runtime(l, high, format), number(8)), round_in_runtime(l, low, format));
  l.result(0, ir.CreateTrunc(r, l.value_type(ScalarType::b16)), ScalarType::b16);
}

}  // namespace

void lower_cvt(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const ScalarType to = i.type(0), from = i.type(1);
  const auto is_plain_float = [](ScalarType t) {
    return is_scalar_half(t) || t == ScalarType::tf32 || t == ScalarType::f32 || t == ScalarType::f64;
  };
  if (i.has(Modifier::rs)) return l.unsupported("stochastic rounding");
  if (i.has(Modifier::scaled_n2_ue8m0)) return l.unsupported("a scale factor");
  if ((to == ScalarType::f16x2 || to == ScalarType::bf16x2) && from == ScalarType::f32 && i.operands.size() == 3)
    return convert_to_half_pair(l, to);
  if (is_fp8_pair(to) || is_fp8_pair(from)) return convert_fp8(l, to, from);
  const bool to_integer = ptx::is_integer(to), from_integer = ptx::is_integer(from);
  if (to_integer && from_integer) return convert_integers(l, to, from);
  if (to_integer && is_plain_float(from)) return convert_float_to_integer(l, to, from);
  if (is_plain_float(to) && from_integer) return convert_integer_to_float(l, to, from);
  if (is_plain_float(to) && is_plain_float(from)) return convert_floats(l, to, from);
  l.unsupported("this pair of types");
}

// cvt.pack.sat.u8.s32.b32 d, a, b, c: saturates a and b. d holds, from the top: the low bits of c, a, b.
void lower_cvt_pack(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  const ptx::Instruction& i = l.instruction();
  const ScalarType to = i.type(0);
  const unsigned width = ptx::bits(to);
  if (i.type(1) != ScalarType::s32 || width > 16) return l.unsupported("this pair of types");
  const bool s = ptx::is_signed(to);
  const std::int64_t low = s ? -(std::int64_t{1} << (width - 1)) : 0;
  const std::int64_t high = (std::int64_t{1} << (s ? width - 1 : width)) - 1;
  const auto number = [&](std::int64_t n) {
    return l.constant(ScalarType::b32, static_cast<std::uint64_t>(n) & 0xffffffffu);
  };
  const auto part = [&](std::size_t k) {
    Value* v = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, l.source(k, ScalarType::s32), number(low));
    v = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, v, number(high));
    return ir.CreateAnd(v, number((std::int64_t{1} << width) - 1));
  };
  Value* above = part(1);
  Value* r = ir.CreateOr(ir.CreateShl(above, number(width)), part(2));
  if (i.operands.size() > 3) r = ir.CreateOr(r, ir.CreateShl(l.source(3, ScalarType::b32), number(2 * width)));
  l.result(0, r, ScalarType::b32);
}

}  // namespace warpgrind::jit
