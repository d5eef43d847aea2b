// Lowering of cvt in all type pairs (PTX ISA, "Data Movement and Conversion Instructions"). NaN results are those of an
// H200 (tests/exec). Conversions from or to f64, and from bf16 to f32, keep the sign and the upper payload. Every other
// conversion gives the format's one NaN.
#include "jit/calls/conversion.h"

#include <llvm/IR/Constants.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

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

// Conversion to a small format by a C++ function, exact for every source. Returns the bits in an i32.
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

// A format of at most 8 bits, of which a register holds two.
struct NarrowFormat {
  ScalarType pair;
  SmallFormat format;
  unsigned width, mantissa_bits;
  int bias;
  bool has_nan;
};
constexpr NarrowFormat kNarrowFormats[] = {
    {ScalarType::e4m3x2, SmallFormat::e4m3, 8, 3, 7, true},  {ScalarType::e5m2x2, SmallFormat::e5m2, 8, 2, 15, true},
    {ScalarType::e2m3x2, SmallFormat::e2m3, 8, 3, 1, false}, {ScalarType::e3m2x2, SmallFormat::e3m2, 8, 2, 3, false},
    {ScalarType::e2m1x2, SmallFormat::e2m1, 4, 1, 1, false},
};

const NarrowFormat* narrow_format(ScalarType t) {
  const auto* found = std::find_if(std::begin(kNarrowFormats), std::end(kNarrowFormats),
                                   [t](const NarrowFormat& f) { return f.pair == t; });
  return found == std::end(kNarrowFormats) ? nullptr : found;
}

// The number in the low bits of an i32, as f32. Of 8 bits, e3m2 and e2m3 use the low six.
Value* narrow_to_float(Lowering& l, Value* bits, const NarrowFormat& f) {
  llvm::IRBuilder<>& ir = l.ir();
  const auto number = [&](std::uint32_t n) { return l.constant(ScalarType::b32, n); };
  if (f.format == SmallFormat::e5m2)  // the upper half of an f16
    return half_to_float(l, ir.CreateTrunc(ir.CreateShl(bits, number(8)), l.value_type(ScalarType::b16)), false);
  llvm::Type* f32 = l.value_type(ScalarType::f32);
  const unsigned sign_at = f.format == SmallFormat::e2m1 ? 3 : f.format == SmallFormat::e4m3 ? 7 : 5;
  Value* size = ir.CreateAnd(bits, number((1u << sign_at) - 1));
  // Shifts exponent and mantissa to their place in f32, then multiplies by the difference of the biases. This is right
  // for subnormals, too.
  Value* v = ir.CreateFMul(ir.CreateBitCast(ir.CreateShl(size, number(23 - f.mantissa_bits)), f32),
                           llvm::ConstantFP::get(f32, std::ldexp(1.0, 127 - f.bias)));
  if (f.has_nan)
    v = ir.CreateSelect(ir.CreateICmpEQ(size, number(0x7f)), ir.CreateBitCast(number(0x7fffffffu), f32), v);
  Value* sign = ir.CreateShl(ir.CreateAnd(bits, number(1u << sign_at)), number(31 - sign_at));
  return ir.CreateBitCast(ir.CreateOr(ir.CreateBitCast(v, bits->getType()), sign), f32);
}

// cvt.rn.f16x2.e2m1x2 d, a
void convert_from_narrow(Lowering& l, const NarrowFormat& from) {
  llvm::IRBuilder<>& ir = l.ir();
  const auto number = [&](std::uint32_t n) { return l.constant(ScalarType::b32, n); };
  Value* pair =
      ir.CreateZExt(l.source(1, from.width == 4 ? ScalarType::b8 : ScalarType::b16), l.value_type(ScalarType::b32));
  const auto half = [&](unsigned k) {
    Value* bits = ir.CreateAnd(ir.CreateLShr(pair, number(from.width * k)), number((1u << from.width) - 1));
    return ir.CreateZExt(to_half(l, narrow_to_float(l, bits, from), ScalarType::f16), l.value_type(ScalarType::b32));
  };
  Value* low = half(0);
  l.result(0, ir.CreateOr(low, ir.CreateShl(half(1), number(16))), ScalarType::b32);
}

// The two numbers of a pair's sources, as floating-point values, the upper one first.
std::array<Value*, 2> pair_of_sources(Lowering& l, ScalarType from) {
  if (from == ScalarType::f32) return {l.source(1, from), l.source(2, from)};
  Value* pair = l.source(1, ScalarType::b32);
  return {half_part(l, pair, 1, from == ScalarType::bf16x2), half_part(l, pair, 0, from == ScalarType::bf16x2)};
}

// cvt.rn.satfinite.e2m1x2.f32 d, a, b
void convert_to_narrow(Lowering& l, const NarrowFormat& to, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  const auto [high, low] = pair_of_sources(l, from);
  Value* upper = ir.CreateShl(round_in_runtime(l, high, to.format), l.constant(ScalarType::b32, to.width));
  Value* r = ir.CreateOr(upper, round_in_runtime(l, low, to.format));
  const ScalarType type = to.width == 4 ? ScalarType::b8 : ScalarType::b16;
  l.result(0, ir.CreateTrunc(r, l.value_type(type)), type);
}

// ue8m0 is an exponent alone: 2^(bits - 127), 0xff is NaN.
Value* power_of_two(Lowering& l, Value* v) {
  llvm::IRBuilder<>& ir = l.ir();
  const ptx::Instruction& i = l.instruction();
  const auto number = [&](std::uint32_t n) { return l.constant(ScalarType::b32, n); };
  if (!v->getType()->getScalarType()->isFloatTy()) v = ir.CreateFPExt(v, l.value_type(ScalarType::f32));
  Value* size = ir.CreateAnd(ir.CreateBitCast(v, l.value_type(ScalarType::b32)), number(0x7fffffff));
  Value* exponent = ir.CreateLShr(size, number(23));
  if (rounding_of(i) == Rounding::up) {
    constexpr std::uint32_t kLeast = 0x00400000, kInfinity = 0x7f800000;  // 2^-127
    Value* between = ir.CreateICmpNE(ir.CreateAnd(size, number(0x7fffff)), number(0));
    between = ir.CreateAnd(between, ir.CreateICmpUGT(size, number(kLeast)));
    between = ir.CreateAnd(between, ir.CreateICmpULT(size, number(kInfinity)));
    exponent = ir.CreateAdd(exponent, ir.CreateZExt(between, exponent->getType()));
  }
  if (!i.has(Modifier::satfinite)) return exponent;
  Value* too_large = ir.CreateAnd(ir.CreateICmpEQ(exponent, number(0xff)), ir.CreateICmpULE(size, number(0x7f800000)));
  return ir.CreateSelect(too_large, number(0xfe), exponent);
}

// cvt.rp.satfinite.ue8m0x2.f32 d, a, b
void convert_to_exponents(Lowering& l, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  const auto [high, low] = pair_of_sources(l, from);
  Value* r = ir.CreateOr(ir.CreateShl(power_of_two(l, high), l.constant(ScalarType::b32, 8)), power_of_two(l, low));
  l.result(0, ir.CreateTrunc(r, l.value_type(ScalarType::b16)), ScalarType::b16);
}

// cvt.rn.bf16x2.ue8m0x2 d, a
void convert_from_exponents(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  const auto number = [&](std::uint32_t n) { return l.constant(ScalarType::b32, n); };
  Value* pair = ir.CreateZExt(l.source(1, ScalarType::b16), l.value_type(ScalarType::b32));
  const auto half = [&](unsigned k) {
    Value* bits = ir.CreateAnd(ir.CreateLShr(pair, number(8 * k)), number(0xff));
    Value* v = ir.CreateSelect(ir.CreateICmpEQ(bits, number(0)), number(0x40), ir.CreateShl(bits, number(7)));
    return ir.CreateSelect(ir.CreateICmpEQ(bits, number(0xff)), number(0x7fff), v);
  };
  Value* low = half(0);
  l.result(0, ir.CreateOr(low, ir.CreateShl(half(1), number(16))), ScalarType::b32);
}

// One of the types has two numbers of at most 8 bits.
void convert_narrow(Lowering& l, ScalarType to, ScalarType from) {
  const NarrowFormat *narrow_to = narrow_format(to), *narrow_from = narrow_format(from);
  const bool wide = from == ScalarType::f32 || from == ScalarType::f16x2 || from == ScalarType::bf16x2;
  if (narrow_from && to == ScalarType::f16x2) return convert_from_narrow(l, *narrow_from);
  if (narrow_to && wide) return convert_to_narrow(l, *narrow_to, from);
  if (from == ScalarType::ue8m0x2 && to == ScalarType::bf16x2) return convert_from_exponents(l);
  if (to == ScalarType::ue8m0x2 && wide && from != ScalarType::f16x2) return convert_to_exponents(l, from);
  l.unsupported("this pair of types");
}

bool is_narrow(ScalarType t) {
  return t == ScalarType::ue8m0x2 || narrow_format(t);
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
  if (is_narrow(to) || is_narrow(from)) return convert_narrow(l, to, from);
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
