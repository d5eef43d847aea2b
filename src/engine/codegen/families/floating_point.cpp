// Lowering of PTX ISA, "Floating Point Instructions": f32, f64 and f32x2.
#include <utility>

#include "codegen/families/approximations.h"
#include "codegen/families/families.h"
#include "codegen/families/floating_arithmetic.h"
#include "codegen/kernel/tiny_results.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;
using Arguments = llvm::ArrayRef<Value*>;

// A source, flushed if the instruction has .ftz.
Value* input(Lowering& l, std::size_t index, ScalarType type) {
  Value* v = l.source(index, type);
  const bool flush = type == ScalarType::f32 && flushes(l) && !l.never_subnormal(l.instruction().operands[index]) &&
                     !host_flushes_sources(*l.ir().GetInsertBlock()->getParent(), l.instruction());
  return flush ? flush_subnormal(l, v) : v;
}

// End of every f32 operation: .ftz (unless done already), .sat, the one NaN.
Value* finish(Lowering& l, Value* v, bool flush = true) {
  if (!v->getType()->getScalarType()->isFloatTy()) return v;
  if (flush && flushes(l)) v = flush_subnormal(l, v);
  return l.instruction().has(Modifier::sat) ? saturate(l, v) : canonical_nan(l, v);
}

// A product or fused product is flushed if it is tiny after rounding with an unbounded exponent. The same operation on
// values scaled by 2^24 shows this. (If the scaling overflows, the result is far from tiny.)
Value* flush_tiny(Lowering& l, Value* result, FloatOp op, Rounding rounding, Arguments a) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* scale = l.constant(ir.getFloatTy(), 0x1p+24);
  llvm::SmallVector<Value*, 3> scaled(a.begin(), a.end());
  scaled[0] = ir.CreateFMul(a[0], scale);
  if (op == FloatOp::fma) scaled[2] = ir.CreateFMul(a[2], scale);
  Value* tiny = ir.CreateFCmpOLT(magnitude(l, rounded(l, op, rounding, ScalarType::f32, scaled)),
                                 l.constant(ir.getFloatTy(), 0x1p-102));
  return ir.CreateSelect(tiny, with_sign_of(l, l.constant(ir.getFloatTy(), 0.0), result), result);
}

Value* arithmetic(Lowering& l, FloatOp op, ScalarType type, Arguments a) {
  const Rounding rounding = rounding_of(l.instruction());
  Value* r = rounded(l, op, rounding, type, a);
  if (host_flushes(*l.ir().GetInsertBlock()->getParent())) return finish(l, r, false);
  const bool tiny = type == ScalarType::f32 && flushes(l) && (op == FloatOp::mul || op == FloatOp::fma);
  if (tiny) r = flush_tiny(l, r, op, rounding, a);
  return finish(l, r, !tiny);
}

// Result of the instruction for one set of sources, of f32 or f64. Also used for each half of f32x2.
Value* combine(Lowering& l, ScalarType type, Arguments a) {
  switch (l.instruction().opcode) {
    case Opcode::add:
      return arithmetic(l, FloatOp::add, type, a);
    case Opcode::sub:
      return arithmetic(l, FloatOp::sub, type, a);
    case Opcode::mul:
      return arithmetic(l, FloatOp::mul, type, a);
    case Opcode::fma:
    case Opcode::mad:
      return arithmetic(l, FloatOp::fma, type, a);
    case Opcode::min:
    case Opcode::max: {
      Value* r = a[0];
      for (Value* next : a.drop_front()) r = minimum_or_maximum(l, r, next, l.instruction().opcode == Opcode::max);
      return canonical_nan(l, r);
    }
    default:
      return nullptr;
  }
}

void lower_packed(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  llvm::SmallVector<Value*, 3> low, high;
  for (std::size_t i = 1; i < l.instruction().operands.size(); ++i) {
    Value* both = l.source(i, ScalarType::b64);
    llvm::Type* word = l.value_type(ScalarType::b32);
    const auto part = [&](Value* bits) {
      Value* v = ir.CreateBitCast(ir.CreateTrunc(bits, word), l.value_type(ScalarType::f32));
      return flushes(l) ? flush_subnormal(l, v) : v;
    };
    low.push_back(part(both));
    high.push_back(part(ir.CreateLShr(both, l.constant(ScalarType::b64, 32))));
  }
  const auto widen = [&](Value* v) {
    return ir.CreateZExt(ir.CreateBitCast(v, l.value_type(ScalarType::b32)), l.value_type(ScalarType::b64));
  };
  Value* first = widen(combine(l, ScalarType::f32, low));
  Value* second = ir.CreateShl(widen(combine(l, ScalarType::f32, high)), l.constant(ScalarType::b64, 32));
  l.result(0, ir.CreateOr(first, second), ScalarType::b64);
}

// add, sub, fma with one narrow type: `fma.rn.f32.f16 d, a, b, c` (a and b are f16, c and d f32).
Value* mixed_input(Lowering& l, std::size_t index, ScalarType narrow) {
  const std::size_t narrow_sources = l.instruction().opcode == Opcode::fma ? 2 : 1;
  if (index > narrow_sources) return input(l, index, ScalarType::f32);
  return half_to_float(l, l.source(index, ScalarType::b16), narrow == ScalarType::bf16);
}

void lower_div(Lowering& l, ScalarType type) {
  Value* a = input(l, 1, type);
  Value* b = input(l, 2, type);
  const bool approximate = l.instruction().has(Modifier::approx) || l.instruction().has(Modifier::full);
  Value* r = approximate && type == ScalarType::f32
                 ? approximate_div(l, a, b)
                 : rounded(l, FloatOp::div, rounding_of(l.instruction()), type, {a, b});
  l.result(0, finish(l, r), type);
}

// neg and abs; a NaN keeps its sign and payload in f64.
void lower_sign(Lowering& l, ScalarType type) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = input(l, 1, type);
  Value* r = l.instruction().opcode == Opcode::neg ? ir.CreateFNeg(a) : magnitude(l, a);
  if (type == ScalarType::f64) {
    Value* bits = ir.CreateBitCast(a, l.value_type(ScalarType::b64));
    Value* quiet = ir.CreateBitCast(ir.CreateOr(bits, l.constant(ScalarType::b64, 0x0008000000000000u)), a->getType());
    r = ir.CreateSelect(ir.CreateFCmpUNO(a, a), quiet, r);
  }
  l.result(0, canonical_nan(l, r), type);
}

}  // namespace

void lower_fma(Lowering& l) {
  is_half_type(l.instruction().type()) ? lower_half_arithmetic(l) : lower_float_arithmetic(l);
}

void lower_rcp(Lowering& l) {
  const ScalarType type = l.instruction().type();
  if (type == ScalarType::f64 && l.instruction().has(Modifier::approx))
    return l.result(0, approximate_rcp_f64(l, l.source(1, type)), type);
  if (l.instruction().has(Modifier::approx)) return l.result(0, finish(l, approximate_rcp(l, input(l, 1, type))), type);
  Value* one = l.constant(l.element(type), 1.0);
  l.result(0, finish(l, rounded(l, FloatOp::div, rounding_of(l.instruction()), type, {one, input(l, 1, type)})), type);
}

void lower_sqrt(Lowering& l) {
  const ScalarType type = l.instruction().type();
  if (l.instruction().has(Modifier::approx))
    return l.result(0, finish(l, approximate_sqrt(l, input(l, 1, type))), type);
  l.result(0, finish(l, rounded(l, FloatOp::sqrt, rounding_of(l.instruction()), type, {input(l, 1, type)})), type);
}

void lower_rsqrt(Lowering& l) {
  const ScalarType type = l.instruction().type();
  if (type == ScalarType::f64 && flushes(l)) return l.result(0, approximate_rsqrt_f64(l, l.source(1, type)), type);
  if (type == ScalarType::f32) return l.result(0, finish(l, approximate_rsqrt(l, input(l, 1, type))), type);
  Value* root = rounded(l, FloatOp::sqrt, Rounding::nearest, type, {input(l, 1, type)});
  l.result(0, finish(l, rounded(l, FloatOp::div, Rounding::nearest, type, {l.constant(l.element(type), 1.0), root})),
           type);
}

namespace {

// sin, cos, lg2, ex2, tanh of f32.
template <Value* (*approximate)(Lowering&, Value*)>
void lower_approximation(Lowering& l) {
  const ScalarType type = l.instruction().type();
  if (is_half_type(type)) return lower_half_arithmetic(l);
  l.result(0, finish(l, approximate(l, input(l, 1, type))), type);
}

}  // namespace

void lower_sin(Lowering& l) {
  lower_approximation<approximate_sin>(l);
}

void lower_cos(Lowering& l) {
  lower_approximation<approximate_cos>(l);
}

void lower_lg2(Lowering& l) {
  lower_approximation<approximate_lg2>(l);
}

void lower_ex2(Lowering& l) {
  lower_approximation<approximate_ex2_f32>(l);
}

void lower_tanh(Lowering& l) {
  lower_approximation<approximate_tanh>(l);
}

void lower_testp(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  const ScalarType type = l.instruction().type();
  const bool wide = type == ScalarType::f64;
  const ScalarType integer = wide ? ScalarType::b64 : ScalarType::b32;
  const std::uint64_t infinity = wide ? 0x7ff0000000000000u : 0x7f800000u,
                      normal = wide ? 0x0010000000000000u : 0x00800000u;
  Value* size = ir.CreateAnd(l.source(1, integer), l.constant(integer, wide ? ~std::uint64_t{0} >> 1 : 0x7fffffffu));
  const auto at = [&](std::uint64_t v) { return l.constant(integer, v); };
  const ptx::Instruction& i = l.instruction();
  Value* r = nullptr;
  if (i.has(Modifier::finite))
    r = ir.CreateICmpULT(size, at(infinity));
  else if (i.has(Modifier::infinite))
    r = ir.CreateICmpEQ(size, at(infinity));
  else if (i.has(Modifier::number))
    r = ir.CreateICmpULE(size, at(infinity));
  else if (i.has(Modifier::notanumber))
    r = ir.CreateICmpUGT(size, at(infinity));
  else if (i.has(Modifier::normal))  // zeros count as normal
    r = ir.CreateOr(ir.CreateICmpEQ(size, at(0)),
                    ir.CreateAnd(ir.CreateICmpUGE(size, at(normal)), ir.CreateICmpULT(size, at(infinity))));
  else  // .subnormal
    r = ir.CreateAnd(ir.CreateICmpNE(size, at(0)), ir.CreateICmpULT(size, at(normal)));
  l.result(0, r, ScalarType::pred);
}

// The sign of a on the magnitude of b.
void lower_copysign(Lowering& l) {
  const ScalarType type = l.instruction().type();
  l.result(0, with_sign_of(l, l.source(2, type), l.source(1, type)), type);
}

void lower_float_arithmetic(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const ScalarType type = i.type();
  if (type == ScalarType::f32x2) return lower_packed(l);
  switch (i.opcode) {
    case Opcode::div:
      return lower_div(l, type);
    case Opcode::neg:
    case Opcode::abs:
      return lower_sign(l, type);
    default:
      break;
  }
  llvm::SmallVector<Value*, 3> a;
  for (std::size_t k = 1; k < i.operands.size(); ++k)
    a.push_back(i.types.size() > 1 ? mixed_input(l, k, i.type(1)) : input(l, k, type));
  l.result(0, combine(l, type, a), type);
}

}  // namespace warpgrind::jit
