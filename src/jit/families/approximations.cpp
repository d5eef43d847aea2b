// The polynomials are Chebyshev fits made with mpmath at 200 bits, rounded to f32; the bounds in the header were
// measured over all f32 inputs (tests/unit/runtime_math_test.cpp).
#include "jit/families/approximations.h"

#include <numbers>

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::ScalarType;

// Shorthand for f32 code that works on one lane or 32.
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

// sin(x + quadrant*pi/2). ptxas makes two instructions of it: x/(2 pi) as one product rounded towards zero, and the
// sine of that many turns. So far out the error is that of the product (cos.approx(65504) is -0.2131, the cosine
// -0.2205), from 2^24 turns on the fraction is 0, and infinity gives NaN.
Value* sine_of_quadrant(Lowering& lowering, Value* x, unsigned quadrant) {
  const F32 f{lowering};
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* turns = truncated_product(lowering, x, f.constant(0x1.45f306p-3));
  Value* part = ir.CreateFSub(turns, f.round(turns));  // [-1/2, 1/2], exact
  // k = the nearest quarter; what is left in radians.
  Value* k = f.round(ir.CreateFMul(part, f.constant(4.0)));
  Value* r = ir.CreateFMul(f.fma(k, f.constant(-0.25), part), f.constant(0x1.921fb6p+2));
  // k mod 4 without leaving floating point.
  Value* shifted = ir.CreateFAdd(k, f.constant(quadrant));
  Value* q = f.fma(f.floor(ir.CreateFMul(shifted, f.constant(0.25))), f.constant(-4.0), shifted);
  Value* y = ir.CreateFMul(r, r);
  Value* sine = f.polynomial(y, {-0x1.555552p-3, 0x1.110bf6p-7, -0x1.9aae86p-13});
  sine = f.fma(ir.CreateFMul(r, y), sine, r);
  Value* cosine = f.polynomial(y, {0x1.555554p-5, -0x1.6c12aap-10, 0x1.9bc2d4p-16});
  cosine = f.fma(ir.CreateFMul(y, y), cosine, f.fma(y, f.constant(-0.5), f.constant(1.0)));
  Value* odd = ir.CreateOr(ir.CreateFCmpOEQ(q, f.constant(1.0)), ir.CreateFCmpOEQ(q, f.constant(3.0)));
  Value* result = ir.CreateSelect(odd, cosine, sine);
  return ir.CreateSelect(ir.CreateFCmpOGE(q, f.constant(2.0)), ir.CreateFNeg(result), result);
}

}  // namespace

Value* approximate_ex2(Lowering& lowering, Value* x) {
  const F32 f{lowering};
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* nan = ir.CreateFCmpUNO(x, x);
  // Beyond these the result is 0 or infinity anyway; a NaN becomes the upper limit and is put back at the end.
  Value* clamped = ir.CreateSelect(ir.CreateFCmpOLT(x, f.constant(129.0)), x, f.constant(129.0));
  clamped = ir.CreateSelect(ir.CreateFCmpOGT(clamped, f.constant(-152.0)), clamped, f.constant(-152.0));
  Value* n = f.round(clamped);
  Value* fraction = ir.CreateFSub(clamped, n);
  Value* p = f.polynomial(
      fraction, {1.0, 0x1.62e430p-1, 0x1.ebfbe0p-3, 0x1.c6af6cp-5, 0x1.3b2a54p-7, 0x1.5f0890p-10, 0x1.44138ap-13});
  // 2^n in two factors: the first product is exact, so a subnormal result is rounded once.
  Value* whole = f.to_integer(n);
  Value* half = ir.CreateAShr(whole, f.integer(1));
  Value* result = ir.CreateFMul(ir.CreateFMul(p, f.power_of_two(half)), f.power_of_two(ir.CreateSub(whole, half)));
  return ir.CreateSelect(nan, x, result);
}

Value* approximate_lg2(Lowering& lowering, Value* x) {
  const F32 f{lowering};
  llvm::IRBuilder<>& ir = lowering.ir();
  Value* subnormal = ir.CreateFCmpOLT(x, f.constant(0x1p-126));
  Value* scaled = ir.CreateSelect(subnormal, ir.CreateFMul(x, f.constant(0x1p+23)), x);
  // x = 2^e * m with m in [sqrt(1/2), sqrt(2)).
  Value* offset = ir.CreateSub(f.bits(scaled), f.integer(0x3f3504f3u));
  Value* exponent = ir.CreateAShr(offset, f.integer(23));
  Value* m = f.value(ir.CreateSub(f.bits(scaled), ir.CreateShl(exponent, f.integer(23))));
  Value* e = ir.CreateSIToFP(exponent, lowering.value_type(ScalarType::f32));
  e = ir.CreateSelect(subnormal, ir.CreateFSub(e, f.constant(23.0)), e);
  Value* t = ir.CreateFSub(m, f.constant(1.0));
  Value* p = f.polynomial(t, {-0x1.715470p-1, 0x1.ec70aap-2, -0x1.715a70p-2, 0x1.277a52p-2, -0x1.eab7aap-3,
                              0x1.a38c68p-3, -0x1.87f6a2p-3, 0x1.7a63a0p-3, -0x1.b84fb6p-4});
  // log2(e)*t in two parts keeps the result right near x == 1, where everything else vanishes.
  Value* correction = f.fma(ir.CreateFMul(t, t), p, ir.CreateFMul(t, f.constant(0x1.4ae0c0p-26)));
  Value* result = ir.CreateFAdd(e, f.fma(t, f.constant(0x1.715476p+0), correction));
  Value* infinity = f.constant(std::numeric_limits<double>::infinity());
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, infinity), infinity, result);
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, f.constant(0.0)), ir.CreateFNeg(infinity), result);
  // Negative or NaN.
  return ir.CreateSelect(ir.CreateFCmpULT(x, f.constant(0.0)), lowering.constant(ScalarType::f32, 0x7fffffffu), result);
}

Value* approximate_sin(Lowering& lowering, Value* x) {
  const F32 f{lowering};
  llvm::IRBuilder<>& ir = lowering.ir();
  // sin(-0) is -0, and a subnormal is its own sine.
  Value* tiny = ir.CreateFCmpOLT(f.magnitude(x), f.constant(0x1p-20));
  return ir.CreateSelect(tiny, x, sine_of_quadrant(lowering, x, 0));
}

Value* approximate_cos(Lowering& lowering, Value* x) {
  return sine_of_quadrant(lowering, x, 1);
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

// Result of a gross f64 approximation: the upper 32 bits; subnormals flushed; the NaN the hardware gives.
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
