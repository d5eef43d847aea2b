// Lowering of PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions".
// Opcodes that also have floating-point forms are forwarded by type.
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/families/families.h"
#include "codegen/kernel/lower.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;

bool forwarded(Lowering& l) {
  const ScalarType t = l.instruction().type();
  if (is_half_type(t)) {
    lower_half_arithmetic(l);
    return true;
  }
  if (ptx::is_float(t)) {
    lower_float_arithmetic(l);
    return true;
  }
  return false;
}

bool is_packed16(ScalarType t) {
  return t == ScalarType::u16x2 || t == ScalarType::s16x2;
}

ScalarType twice(ScalarType t) {
  const bool s = ptx::is_signed(t);
  switch (ptx::bits(t)) {
    case 8:
      return s ? ScalarType::s16 : ScalarType::u16;
    case 16:
      return s ? ScalarType::s32 : ScalarType::u32;
    default:
      return s ? ScalarType::s64 : ScalarType::u64;
  }
}

llvm::Type* wide_type(Lowering& l, unsigned bits) {
  return l.value_type(l.ir().getIntNTy(bits));
}

Value* extend(Lowering& l, Value* v, bool is_signed, llvm::Type* to) {
  return is_signed ? l.ir().CreateSExt(v, to) : l.ir().CreateZExt(v, to);
}

// High half of a product, computed in twice the width.
Value* multiply_high(Lowering& l, Value* a, Value* b, bool is_signed, unsigned bits) {
  llvm::Type* wide = wide_type(l, 2 * bits);
  Value* p = l.ir().CreateMul(extend(l, a, is_signed, wide), extend(l, b, is_signed, wide));
  return l.ir().CreateTrunc(l.ir().CreateLShr(p, llvm::ConstantInt::get(wide, bits)), a->getType());
}

// Applies f to each 16-bit half of a 32-bit value.
template <class F>
Value* by_halves(Lowering& l, Value* a, Value* b, F f) {
  llvm::IRBuilder<>& ir = l.ir();
  llvm::Type* half = wide_type(l, 16);
  Value* sixteen = l.constant(ScalarType::u32, 16);
  const auto low = [&](Value* v) { return ir.CreateTrunc(v, half); };
  const auto high = [&](Value* v) { return ir.CreateTrunc(ir.CreateLShr(v, sixteen), half); };
  Value* lo = ir.CreateZExt(f(low(a), low(b)), a->getType());
  Value* hi = ir.CreateZExt(f(high(a), high(b)), a->getType());
  return ir.CreateOr(lo, ir.CreateShl(hi, sixteen));
}

}  // namespace

void lower_add_sub(Lowering& l) {
  if (forwarded(l)) return;
  const ptx::Instruction& i = l.instruction();
  const ScalarType t = i.type();
  llvm::IRBuilder<>& ir = l.ir();
  const bool add = i.opcode == Opcode::add;
  Value* a = l.source(1, t);
  Value* b = l.source(2, t);
  const auto compute = [&](Value* x, Value* y) -> Value* {
    if (!i.has(Modifier::sat)) return add ? ir.CreateAdd(x, y) : ir.CreateSub(x, y);
    const bool s = ptx::is_signed(t);
    const auto id = add ? (s ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat)
                        : (s ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::usub_sat);
    return ir.CreateBinaryIntrinsic(id, x, y);
  };
  if (is_packed16(t)) return l.result(0, by_halves(l, a, b, compute), t);
  Value* r = compute(a, b);
  if (i.has(Modifier::cc))
    ir.CreateStore(l.splat(add ? ir.CreateICmpULT(r, a) : ir.CreateICmpUGE(a, b)), l.carry_slot());
  l.result(0, r, t);
}

// d = a + b + CC.CF, and d = a - b - borrow. As on the hardware, a subtraction sets CF = no borrow (the carry of a + ~b
// + 1). This is visible when additions and subtractions are mixed.
void lower_addc_subc(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const ScalarType t = i.type();
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, t);
  Value* b = l.source(2, t);
  Value* carry = ir.CreateLoad(llvm::FixedVectorType::get(ir.getInt1Ty(), kWarpSize), l.carry_slot());
  const bool add = i.opcode == Opcode::addc;
  Value* c = ir.CreateZExt(add ? carry : ir.CreateNot(carry), a->getType());
  Value* first = add ? ir.CreateAdd(a, b) : ir.CreateSub(a, b);
  Value* r = add ? ir.CreateAdd(first, c) : ir.CreateSub(first, c);
  if (i.has(Modifier::cc)) {
    Value* out = add ? ir.CreateOr(ir.CreateICmpULT(first, a), ir.CreateICmpULT(r, first))
                     : ir.CreateAnd(ir.CreateICmpUGE(a, b), ir.CreateICmpUGE(first, c));
    ir.CreateStore(out, l.carry_slot());
  }
  l.result(0, r, t);
}

void lower_mul_mad(Lowering& l) {
  if (forwarded(l)) return;
  const ptx::Instruction& i = l.instruction();
  const ScalarType t = i.type();
  llvm::IRBuilder<>& ir = l.ir();
  const bool mad = i.opcode != Opcode::mul, with_carry = i.opcode == Opcode::madc;
  Value* a = l.source(1, t);
  Value* b = l.source(2, t);
  if (i.has(Modifier::wide)) {
    const ScalarType w = twice(t);
    llvm::Type* wide = wide_type(l, ptx::bits(w));
    Value* r = ir.CreateMul(extend(l, a, ptx::is_signed(t), wide), extend(l, b, ptx::is_signed(t), wide));
    if (mad) r = ir.CreateAdd(r, l.source(3, w));
    return l.result(0, r, w);
  }
  Value* p = i.has(Modifier::hi) ? multiply_high(l, a, b, ptx::is_signed(t), ptx::bits(t)) : ir.CreateMul(a, b);
  if (!mad) return l.result(0, p, t);
  Value* c = l.source(3, t);
  if (i.has(Modifier::sat)) return l.result(0, ir.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, p, c), t);
  Value* first = ir.CreateAdd(p, c);
  Value* r = first;
  if (with_carry)
    r = ir.CreateAdd(first,
                     ir.CreateZExt(ir.CreateLoad(llvm::FixedVectorType::get(ir.getInt1Ty(), kWarpSize), l.carry_slot()),
                                   first->getType()));
  if (i.has(Modifier::cc)) {
    Value* out = ir.CreateICmpULT(first, p);
    if (with_carry) out = ir.CreateOr(out, ir.CreateICmpULT(r, first));
    ir.CreateStore(l.splat(out), l.carry_slot());
  }
  l.result(0, r, t);
}

// 24-bit products of the operands' low 24 bits, sign- or zero-extended. .hi takes bits 47..16 of the 48-bit product.
void lower_mul24(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const ScalarType t = i.type();
  const bool s = ptx::is_signed(t);
  llvm::IRBuilder<>& ir = l.ir();
  llvm::Type* wide = wide_type(l, 64);
  const auto operand = [&](std::size_t k) {
    Value* v = ir.CreateShl(l.source(k, t), l.constant(ScalarType::u32, 8));
    v = s ? ir.CreateAShr(v, l.constant(ScalarType::u32, 8)) : ir.CreateLShr(v, l.constant(ScalarType::u32, 8));
    return extend(l, v, s, wide);
  };
  Value* p = ir.CreateMul(operand(1), operand(2));
  if (i.has(Modifier::hi)) p = ir.CreateLShr(p, llvm::ConstantInt::get(wide, 16));
  Value* r = ir.CreateTrunc(p, l.value_type(t));
  if (i.opcode == Opcode::mad24) {
    Value* c = l.source(3, t);
    r = i.has(Modifier::sat) ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, r, c) : ir.CreateAdd(r, c);
  }
  l.result(0, r, t);
}

void lower_sad(Lowering& l) {
  const ScalarType t = l.instruction().type();
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, t);
  Value* b = l.source(2, t);
  Value* less = ptx::is_signed(t) ? ir.CreateICmpSLT(a, b) : ir.CreateICmpULT(a, b);
  l.result(0, ir.CreateAdd(l.source(3, t), ir.CreateSelect(less, ir.CreateSub(b, a), ir.CreateSub(a, b))), t);
}

// Of quotients of 32 bits. AVX2 converts doubles to signed 32-bit integers alone: to 64 bits they go one by one.
Value* whole_part(Lowering& l, Value* quotient, bool is_signed) {
  llvm::IRBuilder<>& ir = l.ir();
  if (l.scalar() || has_avx512(*ir.GetInsertBlock()->getParent())) return ir.CreateFPToSI(quotient, wide_type(l, 64));
  if (!is_signed) return ir.CreateFPToUI(quotient, l.value_type(ir.getInt32Ty()));
  constexpr unsigned kAtOnce = 4;
  std::vector<Value*> parts;
  for (unsigned first = 0; first < kWarpSize; first += kAtOnce) {
    parts.push_back(ir.CreateIntrinsic(llvm::Intrinsic::x86_avx_cvtt_pd2dq_256, {},  // 2^31 stays the same 32 bits
                                       {l.slice(quotient, first, kAtOnce)}));
  }
  return l.concatenated(std::move(parts));
}

// Quotients of up to 32 bits are computed in double. |a/b| < 2^32, and a non-integer quotient is at least 1/b away from
// the next integer. That is far more than the rounding error of one division, so truncation is exact. Division by zero
// gives all ones as quotient and remainder, like an H200; nothing traps here.
void lower_div_rem(Lowering& l) {
  if (forwarded(l)) return;
  const ptx::Instruction& i = l.instruction();
  const ScalarType t = i.type();
  llvm::IRBuilder<>& ir = l.ir();
  const bool s = ptx::is_signed(t), rem = i.opcode == Opcode::rem;
  Value* a = l.source(1, t);
  Value* b = l.source(2, t);
  if (ptx::bits(t) == 64) {
    const char* name = rem ? (s ? "wg_rem_s64" : "wg_rem_u64") : (s ? "wg_div_s64" : "wg_div_u64");
    return l.result(0, l.call_lanes(name, ir.getInt64Ty(), {a, b}), t);
  }
  llvm::Type* real = l.value_type(ir.getDoubleTy());
  Value* zero = llvm::Constant::getNullValue(b->getType());
  Value* by_zero = ir.CreateICmpEQ(b, zero);
  Value* one = llvm::ConstantInt::get(b->getType(), 1);
  Value* divisor = ir.CreateSelect(by_zero, one, b);
  const auto to_real = [&](Value* v) { return s ? ir.CreateSIToFP(v, real) : ir.CreateUIToFP(v, real); };
  Value* q = ir.CreateTrunc(whole_part(l, ir.CreateFDiv(to_real(a), to_real(divisor)), s), a->getType());
  q = ir.CreateSelect(by_zero, llvm::Constant::getAllOnesValue(q->getType()), q);
  if (!rem) return l.result(0, q, t);
  Value* r = ir.CreateSub(a, ir.CreateMul(q, b));
  l.result(0, ir.CreateSelect(by_zero, llvm::Constant::getAllOnesValue(r->getType()), r), t);
}

void lower_abs_neg(Lowering& l) {
  if (forwarded(l)) return;
  const ptx::Instruction& i = l.instruction();
  const ScalarType t = i.type();
  Value* a = l.source(1, t);
  l.result(0,
           i.opcode == Opcode::neg ? l.ir().CreateNeg(a)
                                   : l.ir().CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, l.ir().getInt1(false)),
           t);
}

void lower_min_max(Lowering& l) {
  if (forwarded(l)) return;
  const ptx::Instruction& i = l.instruction();
  const ScalarType t = i.type();
  llvm::IRBuilder<>& ir = l.ir();
  const bool s = ptx::is_signed(t), max = i.opcode == Opcode::max;
  const auto id =
      max ? (s ? llvm::Intrinsic::smax : llvm::Intrinsic::umax) : (s ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
  const auto pick = [&](Value* x, Value* y) -> Value* {
    Value* r = ir.CreateBinaryIntrinsic(id, x, y);
    if (i.has(Modifier::relu))
      r = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, r, llvm::Constant::getNullValue(r->getType()));
    return r;
  };
  Value* r = l.source(1, t);
  for (std::size_t k = 2; k < i.operands.size(); ++k)
    r = is_packed16(t) ? by_halves(l, r, l.source(k, t), pick) : pick(r, l.source(k, t));
  l.result(0, r, t);
}

// d = c + sum over bytes (dp4a) or over 16-bit/8-bit pairs (dp2a).
void lower_dot_product(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const bool four = i.opcode == Opcode::dp4a;
  const bool sa = ptx::is_signed(i.type(0)), sb = ptx::is_signed(i.type(1));
  Value* a = l.source(1, ScalarType::b32);
  Value* b = l.source(2, ScalarType::b32);
  const auto field = [&](Value* v, unsigned at, unsigned bits, bool is_signed) {
    Value* up = ir.CreateShl(v, l.constant(ScalarType::u32, 32 - at - bits));
    Value* down = l.constant(ScalarType::u32, 32 - bits);
    return is_signed ? ir.CreateAShr(up, down) : ir.CreateLShr(up, down);
  };
  Value* sum = l.source(3, ScalarType::b32);
  const unsigned first_b = !four && i.has(Modifier::hi) ? 2 : 0;
  for (unsigned k = 0; k < (four ? 4u : 2u); ++k)
    sum = ir.CreateAdd(
        sum, ir.CreateMul(field(a, k * (four ? 8 : 16), four ? 8 : 16, sa), field(b, (k + first_b) * 8, 8, sb)));
  l.result(0, sum, ScalarType::b32);
}

}  // namespace warpgrind::jit
