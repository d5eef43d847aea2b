// Approximations of .approx instructions. The polynomials of ex2 and tanh are Chebyshev fits, made with mpmath at 200
// bits and rounded to f32. The bounds in the header were measured over all f32 inputs
// (tests/unit/math_runtime_test.cpp).
#include "codegen/families/approximations.h"

#include <numbers>
#include <string>

#include "codegen/families/families.h"
#include "codegen/families/floating_arithmetic.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::ScalarType;

// Shorthand for f32 code on one lane or 32.
struct F32 {
  Lowering& lowering;
  llvm::IRBuilder<>& ir = lowering.ir();

  Value* constant(double v) const { return lowering.constant(ir.getFloatTy(), v); }
  Value* integer(std::uint32_t v) const { return lowering.constant(ScalarType::b32, v); }
  Value* bits(Value* v) const { return ir.CreateBitCast(v, lowering.value_type(ScalarType::b32)); }
  Value* value(Value* v) const { return ir.CreateBitCast(v, lowering.value_type(ScalarType::f32)); }
  Value* fma(Value* a, Value* b, Value* c) const {
    return ir.CreateIntrinsic(a->getType(), llvm::Intrinsic::fma, {a, b, c});
  }
  Value* round(Value* a) const { return ir.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, a); }
  Value* floor(Value* a) const { return ir.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a); }
  Value* magnitude(Value* a) const { return value(ir.CreateAnd(bits(a), integer(0x7fffffffu))); }
  Value* sign(Value* a) const { return ir.CreateAnd(bits(a), integer(0x80000000u)); }
  Value* with_sign(Value* magnitude, Value* sign) const { return value(ir.CreateOr(bits(magnitude), sign)); }
  Value* to_integer(Value* a) const { return ir.CreateFPToSI(a, lowering.value_type(ScalarType::s32)); }
  // 2^n for integers -126 <= n <= 127.
  Value* power_of_two(Value* n) const { return value(ir.CreateShl(ir.CreateAdd(n, integer(127)), integer(23))); }
  // c[0] + c[1]*x + ...
  Value* polynomial(Value* x, std::initializer_list<double> c) const {
    const double* p = c.end();
    Value* r = constant(*--p);
    while (p != c.begin()) r = fma(r, x, constant(*--p));
    return r;
  }
};

// The product rounded towards zero.
Value* truncated_product(Lowering& lowering, Value* a, Value* b) {
  const F32 f{lowering};
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* product = ir.CreateFMul(a, b);
  Value* missing = f.fma(a, b, ir.CreateFNeg(product));
  Value* away =
      ir.CreateAnd(ir.CreateFCmpONE(missing, f.constant(0.0)), ir.CreateICmpNE(f.sign(missing), f.sign(product)));
  return f.value(ir.CreateSelect(away, ir.CreateSub(f.bits(product), f.integer(1)), f.bits(product)));
}

}  // namespace

Value* approximate_ex2(Lowering& lowering, Value* x) {
  const F32 f{lowering};
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* nan = ir.CreateFCmpUNO(x, x);
  // Outside these limits the result is 0 or infinity anyway. A NaN becomes the upper limit and is restored at the end.
  Value* clamped = ir.CreateSelect(ir.CreateFCmpOLT(x, f.constant(129.0)), x, f.constant(129.0));
  clamped = ir.CreateSelect(ir.CreateFCmpOGT(clamped, f.constant(-152.0)), clamped, f.constant(-152.0));
  Value* n = f.round(clamped);
  Value* fraction = ir.CreateFSub(clamped, n);
  Value* p = f.polynomial(
      fraction, {1.0, 0x1.62e430p-1, 0x1.ebfbe0p-3, 0x1.c6af6cp-5, 0x1.3b2a54p-7, 0x1.5f0890p-10, 0x1.44138ap-13});
  // Multiplies by 2^n in two factors. The first product is exact, so a subnormal result is rounded only once.
  Value* whole = f.to_integer(n);
  Value* half = ir.CreateAShr(whole, f.integer(1));
  Value* result = ir.CreateFMul(ir.CreateFMul(p, f.power_of_two(half)), f.power_of_two(ir.CreateSub(whole, half)));
  return ir.CreateSelect(nan, x, result);
}

namespace {

Value* unit(Lowering& lowering, const char* function, Value* x) {
  const std::string name = lowering.scalar() ? std::string(function) + "_of_one" : function;
  return lowering.call_lanes(name.c_str(), lowering.ir().getFloatTy(), {x});
}

// `scale` if the condition holds, else 1. The unit treats subnormals as 0. So without .ftz, ptxas multiplies before and
// after the unit.
Value* scale_where(Lowering& lowering, Value* condition, double scale) {
  return lowering.ir().CreateSelect(condition, lowering.constant(lowering.ir().getFloatTy(), scale),
                                    lowering.constant(lowering.ir().getFloatTy(), 1.0));
}

Value* is_subnormal(Lowering& lowering, Value* x) {
  const F32 f{lowering};
  return lowering.ir().CreateFCmpOLT(f.magnitude(x), f.constant(0x1p-126));
}

// function(x * scale) * behind for a subnormal x, else function(x).
Value* of_scaled_subnormal(Lowering& lowering, const char* function, Value* x, double scale, double behind) {
  llvm::IRBuilder<>& ir = lowering.ir();
  if (flushes(lowering)) return unit(lowering, function, x);
  Value* small = is_subnormal(lowering, x);
  Value* r = unit(lowering, function, ir.CreateFMul(x, scale_where(lowering, small, scale)));
  return ir.CreateFMul(r, scale_where(lowering, small, behind));
}

}  // namespace

Value* approximate_ex2_f32(Lowering& lowering, Value* x) {
  llvm::IRBuilder<>& ir = lowering.ir();
  if (flushes(lowering)) return unit(lowering, "wg_mufu_exponential", x);
  // A subnormal result is computed as the square of ex2(x/2).
  Value* small = ir.CreateFCmpOLT(x, lowering.constant(ir.getFloatTy(), -126.0));
  Value* r = unit(lowering, "wg_mufu_exponential", ir.CreateFMul(x, scale_where(lowering, small, 0.5)));
  return ir.CreateSelect(small, ir.CreateFMul(r, r), r);
}

Value* approximate_lg2(Lowering& lowering, Value* x) {
  llvm::IRBuilder<>& ir = lowering.ir();
  if (flushes(lowering)) return unit(lowering, "wg_mufu_logarithm", x);
  Value* small = is_subnormal(lowering, x);
  Value* r = unit(lowering, "wg_mufu_logarithm", ir.CreateFMul(x, scale_where(lowering, small, 0x1p+24)));
  Value* shifted = ir.CreateFSub(r, lowering.constant(ir.getFloatTy(), 24.0));
  return ir.CreateSelect(small, shifted, r);
}

// x/(2 pi) as one product rounded towards zero, then the unit, which takes turns. For large x the error is that of the
// product (cos.approx(65504) is -0.2131, the cosine -0.2205).
Value* approximate_sin(Lowering& lowering, Value* x) {
  return unit(lowering, "wg_mufu_sine", truncated_product(lowering, x, F32{lowering}.constant(0x1.45f306p-3)));
}

Value* approximate_cos(Lowering& lowering, Value* x) {
  return unit(lowering, "wg_mufu_cosine", truncated_product(lowering, x, F32{lowering}.constant(0x1.45f306p-3)));
}

Value* approximate_rcp(Lowering& lowering, Value* x) {
  const F32 f{lowering};
  llvm::IRBuilder<>& ir = lowering.ir();
  if (flushes(lowering)) return unit(lowering, "wg_mufu_reciprocal", x);
  Value* large = ir.CreateFCmpOGE(f.magnitude(x), f.constant(0x1p+126));  // the result would be subnormal
  Value* scale = ir.CreateSelect(large, f.constant(0.25), scale_where(lowering, is_subnormal(lowering, x), 0x1p+24));
  return ir.CreateFMul(unit(lowering, "wg_mufu_reciprocal", ir.CreateFMul(x, scale)), scale);
}

Value* approximate_rsqrt(Lowering& lowering, Value* x) {
  return of_scaled_subnormal(lowering, "wg_mufu_reciprocal_root", x, 0x1p+24, 0x1p+12);
}

Value* approximate_sqrt(Lowering& lowering, Value* x) {
  return of_scaled_subnormal(lowering, "wg_mufu_root", x, 0x1p+24, 0x1p-12);
}

// a times 1/b. div.full also scales large divisors, for which 1/b would be 0.
Value* approximate_div(Lowering& lowering, Value* a, Value* b) {
  const F32 f{lowering};
  llvm::IRBuilder<>& ir = lowering.ir();
  const bool full = lowering.instruction().has(ptx::Modifier::full);
  const auto product = [&](Value* x, Value* y) {
    Value* p = ir.CreateFMul(x, y);
    return flushes(lowering) ? flush_subnormal(lowering, p) : p;
  };
  if (!full && flushes(lowering)) return ir.CreateFMul(a, unit(lowering, "wg_mufu_reciprocal", b));
  Value* scale = scale_where(lowering, is_subnormal(lowering, b), 0x1p+24);
  if (full) scale = ir.CreateSelect(ir.CreateFCmpOGT(f.magnitude(b), f.constant(0x1p+126)), f.constant(0.25), scale);
  return ir.CreateFMul(product(a, scale), unit(lowering, "wg_mufu_reciprocal", product(b, scale)));
}

Value* approximate_tanh(Lowering& lowering, Value* x) {
  const F32 f{lowering};
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* a = f.magnitude(x);
  Value* y = ir.CreateFMul(a, a);
  Value* small = f.polynomial(y, {-0x1.55554cp-2, 0x1.1109dep-3, -0x1.b8450ep-5, 0x1.50be22p-6, -0x1.6a5628p-8});
  small = f.fma(ir.CreateFMul(a, y), small, a);
  // 1 - 2/(e^2a + 1); infinite powers give 1.
  Value* power = approximate_ex2(lowering, ir.CreateFMul(a, f.constant(2 * std::numbers::log2e)));
  Value* large = ir.CreateFSub(f.constant(1.0), ir.CreateFDiv(f.constant(2.0), ir.CreateFAdd(power, f.constant(1.0))));
  Value* result = ir.CreateSelect(ir.CreateFCmpOLT(a, f.constant(0.7)), small, large);
  return f.with_sign(result, f.sign(x));
}

namespace {

// Result of a coarse f64 approximation: the upper 32 bits, subnormals flushed, and the NaN of the hardware.
Value* upper_half(Lowering& lowering, Value* exact) {
  llvm::IRBuilder<>& ir = lowering.ir();
  const auto b64 = [&](std::uint64_t v) { return lowering.constant(ScalarType::b64, v); };
  Value* bits = ir.CreateBitCast(exact, lowering.value_type(ScalarType::b64));
  Value* upper = ir.CreateAnd(bits, b64(0xffffffff00000000u));
  Value* exponent = ir.CreateAnd(bits, b64(0x7ff0000000000000u));
  upper = ir.CreateSelect(ir.CreateICmpEQ(exponent, b64(0)), ir.CreateAnd(bits, b64(0x8000000000000000u)), upper);
  upper = ir.CreateSelect(ir.CreateFCmpUNO(exact, exact), b64(0x7fffffff00000000u), upper);
  return ir.CreateBitCast(upper, lowering.value_type(ScalarType::f64));
}

// The upper 32 bits of the input; subnormals become zeros.
Value* upper_input(Lowering& lowering, Value* x) {
  llvm::IRBuilder<>& ir = lowering.ir();
  const auto b64 = [&](std::uint64_t v) { return lowering.constant(ScalarType::b64, v); };
  Value* bits = ir.CreateAnd(ir.CreateBitCast(x, lowering.value_type(ScalarType::b64)), b64(0xffffffff00000000u));
  Value* exponent = ir.CreateAnd(bits, b64(0x7ff0000000000000u));
  bits = ir.CreateSelect(ir.CreateICmpEQ(exponent, b64(0)), ir.CreateAnd(bits, b64(0x8000000000000000u)), bits);
  return ir.CreateBitCast(bits, lowering.value_type(ScalarType::f64));
}

}  // namespace

Value* approximate_rcp_f64(Lowering& lowering, Value* x) {
  llvm::IRBuilder<>& ir = lowering.ir();
  return upper_half(lowering, ir.CreateFDiv(lowering.constant(ir.getDoubleTy(), 1.0), upper_input(lowering, x)));
}

Value* approximate_rsqrt_f64(Lowering& lowering, Value* x) {
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* root = ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, upper_input(lowering, x));
  return upper_half(lowering, ir.CreateFDiv(lowering.constant(ir.getDoubleTy(), 1.0), root));
}

}  // namespace warpgrind::jit
