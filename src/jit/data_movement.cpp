// PTX ISA, "Data Movement and Conversion Instructions": cvt in all type pairs, mov of vectors, isspacep.
#include <llvm/IR/Constants.h>

#include "jit/abi.h"
#include "jit/families.h"
#include "jit/floating_arithmetic.h"
#include "jit/lower.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::ScalarType;

// The operand's own register may be wider than the source type: source() truncates.
void convert_integers(Lowering& l, ScalarType to, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, from);
  const bool from_signed = ptx::is_signed(from), to_signed = ptx::is_signed(to);
  const unsigned from_bits = ptx::bits(from), to_bits = ptx::bits(to);
  if (l.instruction().has(Modifier::sat)) {
    llvm::Type* wide = l.value_type(ir.getIntNTy(std::max(from_bits, to_bits) + 1));
    Value* v = from_signed ? ir.CreateSExt(a, wide) : ir.CreateZExt(a, wide);
    const unsigned width = wide->getScalarSizeInBits();
    const llvm::APInt low = to_signed ? llvm::APInt::getSignedMinValue(to_bits).sext(width) : llvm::APInt(width, 0);
    const llvm::APInt high =
        to_signed ? llvm::APInt::getSignedMaxValue(to_bits).sext(width) : llvm::APInt::getMaxValue(to_bits).zext(width);
    v = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, v, llvm::ConstantInt::get(wide, low));
    v = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, v, llvm::ConstantInt::get(wide, high));
    return l.result(0, ir.CreateTrunc(v, l.value_type(to)), to);
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

// A floating source as f32 or f64.
Value* float_source(Lowering& l, std::size_t k, ScalarType from) {
  if (from == ScalarType::f16 || from == ScalarType::bf16)
    return half_to_float(l, l.source(k, ScalarType::b16), from == ScalarType::bf16);
  Value* v = l.source(k, from == ScalarType::tf32 ? ScalarType::f32 : from);
  if (from == ScalarType::f32 && l.instruction().has(Modifier::ftz)) v = flush_subnormal(l, v);
  return v;
}

// Out of range saturates, NaN is 0 (64-bit and signed 32-bit targets from the hardware's F2I: NaN of 64-bit targets is
// the smallest number; PTX says 0 for all: measured on an H200, f32/f64 -> 32 bit: 0, -> 64 bit: 0x8000000000000000).
void convert_float_to_integer(Lowering& l, ScalarType to, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* v = round_integral(l, float_source(l, 1, from));
  const bool is_signed = ptx::is_signed(to);
  Value* r = ir.CreateIntrinsic(is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                                {l.value_type(to), v->getType()}, {v});
  if (ptx::bits(to) == 64) {
    Value* nan = ir.CreateFCmpUNO(v, v);
    r = ir.CreateSelect(nan, l.constant(to, 0x8000000000000000ull), r);
  }
  l.result(0, r, to);
}

// f64 -> f32 and integer -> f32/f64 in the directed roundings: the nearest result moved by one step where it lies on
// the wrong side.
Value* step(Lowering& l, Value* v, bool up) {
  llvm::IRBuilder<>& ir = l.ir();
  const bool wide = v->getType()->getScalarType()->isDoubleTy();
  const ScalarType bits_type = wide ? ScalarType::b64 : ScalarType::b32;
  Value* bits = ir.CreateBitCast(v, l.value_type(bits_type));
  Value* one = l.constant(bits_type, 1);
  Value* negative = ir.CreateICmpSLT(bits, l.constant(bits_type, 0));
  Value* zero = ir.CreateFCmpOEQ(v, llvm::ConstantFP::get(v->getType(), 0.0));
  Value* away = ir.CreateAdd(bits, one);
  Value* toward = ir.CreateSub(bits, one);
  Value* moved = up ? ir.CreateSelect(negative, toward, away) : ir.CreateSelect(negative, away, toward);
  const std::uint64_t sign = wide ? 0x8000000000000000ull : 0x80000000ull;
  moved = ir.CreateSelect(zero, l.constant(bits_type, up ? 1 : sign | 1), moved);
  return ir.CreateBitCast(moved, v->getType());
}

// `exact` compares the rounded value with the source: -1 rounded is below the source, +1 above, as two i1.
Value* direct(Lowering& l, Value* nearest, Value* below, Value* above, Value* negative) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  if (i.has(Modifier::rp)) return ir.CreateSelect(below, step(l, nearest, true), nearest);
  if (i.has(Modifier::rm)) return ir.CreateSelect(above, step(l, nearest, false), nearest);
  if (i.has(Modifier::rz)) {
    Value* down = ir.CreateSelect(above, step(l, nearest, false), nearest);
    Value* up = ir.CreateSelect(below, step(l, nearest, true), nearest);
    return ir.CreateSelect(negative, up, down);
  }
  return nearest;
}

bool is_directed(const ptx::Instruction& i) {
  return i.has(Modifier::rz) || i.has(Modifier::rm) || i.has(Modifier::rp);
}

void finish_float(Lowering& l, Value* v, ScalarType to) {
  const ptx::Instruction& i = l.instruction();
  if (i.has(Modifier::sat)) v = saturate(l, v);
  if (to == ScalarType::f32) {
    if (i.has(Modifier::ftz)) v = flush_subnormal(l, v);
    v = canonical_nan(l, v);
  }
  l.result(0, v, to);
}

void convert_integer_to_float(Lowering& l, ScalarType to, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, from);
  const bool s = ptx::is_signed(from);
  const auto make = [&](llvm::Type* e) {
    return s ? ir.CreateSIToFP(a, l.value_type(e)) : ir.CreateUIToFP(a, l.value_type(e));
  };
  if (to == ScalarType::f16 || to == ScalarType::bf16) {
    // Through f64 (exact for up to 53 bits), then rounded to odd f32, then once to half.
    Value* d = make(ir.getDoubleTy());
    Value* f = ir.CreateFPTrunc(d, l.value_type(ir.getFloatTy()));
    Value* back = ir.CreateFPExt(f, d->getType());
    Value* bits = ir.CreateBitCast(f, l.value_type(ScalarType::b32));
    Value* odd = ir.CreateOr(bits, l.constant(ScalarType::b32, 1));
    Value* toward = ir.CreateOr(ir.CreateSub(bits, l.constant(ScalarType::b32, 1)), l.constant(ScalarType::b32, 1));
    Value* size = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, d);
    Value* size_back = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back);
    bits = ir.CreateSelect(ir.CreateFCmpOGT(size_back, size), toward,
                           ir.CreateSelect(ir.CreateFCmpOLT(size_back, size), odd, bits));
    return l.result(0, float_to_half(l, ir.CreateBitCast(bits, f->getType()), to == ScalarType::bf16), ScalarType::b16);
  }
  Value* v = make(l.element(to));
  if (is_directed(l.instruction())) {
    // Compare in integers of 128 bits: exact for every source.
    llvm::Type* wide = l.value_type(ir.getIntNTy(128));
    Value* back = ir.CreateFPToSI(v, wide);
    Value* exact = s ? ir.CreateSExt(a, wide) : ir.CreateZExt(a, wide);
    Value* negative = ir.CreateICmpSLT(exact, llvm::Constant::getNullValue(wide));
    v = direct(l, v, ir.CreateICmpSLT(back, exact), ir.CreateICmpSGT(back, exact), negative);
  }
  finish_float(l, v, to);
}

void convert_floats(Lowering& l, ScalarType to, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* v = round_integral(l, float_source(l, 1, from));
  const ptx::Instruction& i = l.instruction();
  if (to == ScalarType::f16 || to == ScalarType::bf16) {
    if (is_directed(i)) return l.unsupported("directed rounding to half precision");
    if (v->getType()->getScalarType()->isDoubleTy()) return l.unsupported("f64 to half precision");
    if (i.has(Modifier::relu))
      v = ir.CreateSelect(ir.CreateFCmpOLE(v, llvm::ConstantFP::get(v->getType(), 0.0)),
                          llvm::ConstantFP::get(v->getType(), 0.0), v);
    if (i.has(Modifier::sat)) v = saturate(l, v);
    return l.result(0, float_to_half(l, v, to == ScalarType::bf16), ScalarType::b16);
  }
  if (to == ScalarType::tf32) {
    // 10 bits of mantissa: nearest, ties away (.rna) or to even (.rn).
    Value* bits = ir.CreateBitCast(v, l.value_type(ScalarType::b32));
    Value* half = l.constant(ScalarType::b32, 0x1000);
    if (i.has(Modifier::rn))
      half = ir.CreateAdd(
          l.constant(ScalarType::b32, 0xfff),
          ir.CreateAnd(ir.CreateLShr(bits, l.constant(ScalarType::b32, 13)), l.constant(ScalarType::b32, 1)));
    if (i.has(Modifier::rz)) half = l.constant(ScalarType::b32, 0);
    Value* rounded_bits = ir.CreateAnd(ir.CreateAdd(bits, half), l.constant(ScalarType::b32, 0xffffe000u));
    Value* special = ir.CreateICmpEQ(ir.CreateAnd(bits, l.constant(ScalarType::b32, 0x7f800000)),
                                     l.constant(ScalarType::b32, 0x7f800000));
    return l.result(0, ir.CreateSelect(special, bits, rounded_bits), ScalarType::b32);
  }
  const bool wide_source = v->getType()->getScalarType()->isDoubleTy();
  if (to == ScalarType::f64) {
    if (!wide_source) v = ir.CreateFPExt(v, l.value_type(to));
  } else if (wide_source) {
    Value* n = ir.CreateFPTrunc(v, l.value_type(to));
    if (is_directed(i)) {
      Value* back = ir.CreateFPExt(n, v->getType());
      Value* negative = ir.CreateFCmpOLT(v, llvm::ConstantFP::get(v->getType(), 0.0));
      n = direct(l, n, ir.CreateFCmpOLT(back, v), ir.CreateFCmpOGT(back, v), negative);
    }
    v = n;
  }
  finish_float(l, v, to);
}

// cvt.rn.f16x2.f32 d, a, b: a in the high half.
void convert_to_packed_half(Lowering& l, ScalarType to) {
  llvm::IRBuilder<>& ir = l.ir();
  const ptx::Instruction& i = l.instruction();
  if (is_directed(i) && !i.has(Modifier::rz)) return l.unsupported("directed rounding to half precision");
  const auto half = [&](std::size_t k) {
    Value* v = l.source(k, ScalarType::f32);
    if (i.has(Modifier::relu))
      v = ir.CreateSelect(ir.CreateFCmpOLE(v, llvm::ConstantFP::get(v->getType(), 0.0)),
                          llvm::ConstantFP::get(v->getType(), 0.0), v);
    return ir.CreateZExt(float_to_half(l, v, to == ScalarType::bf16x2), l.value_type(ScalarType::b32));
  };
  Value* high = ir.CreateShl(half(1), l.constant(ScalarType::b32, 16));
  l.result(0, ir.CreateOr(high, half(2)), ScalarType::b32);
}

bool is_fp8_pair(ScalarType t) {
  return t == ScalarType::e4m3x2 || t == ScalarType::e5m2x2;
}

void convert_fp8(Lowering& l, ScalarType to, ScalarType from) {
  llvm::IRBuilder<>& ir = l.ir();
  if (is_fp8_pair(to) && from == ScalarType::f32) {
    const char* name = to == ScalarType::e4m3x2 ? "wg_cvt_e4m3x2_f32" : "wg_cvt_e5m2x2_f32";
    return l.result(0, l.call_lanes(name, ir.getInt16Ty(), {l.source(1, from), l.source(2, from)}), ScalarType::b16);
  }
  if (is_fp8_pair(to) && from == ScalarType::f16x2) {
    const char* name = to == ScalarType::e4m3x2 ? "wg_cvt_e4m3x2_f16x2" : "wg_cvt_e5m2x2_f16x2";
    return l.result(0, l.call_lanes(name, ir.getInt16Ty(), {l.source(1, ScalarType::b32)}), ScalarType::b16);
  }
  if (is_fp8_pair(from) && to == ScalarType::f16x2) {
    const char* name = from == ScalarType::e4m3x2 ? "wg_cvt_f16x2_e4m3x2" : "wg_cvt_f16x2_e5m2x2";
    return l.result(0, l.call_lanes(name, ir.getInt32Ty(), {l.source(1, ScalarType::b16)}), ScalarType::b32);
  }
  l.unsupported("this pair of types");
}

void lower_cvt(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const ScalarType to = i.type(0), from = i.type(1);
  const auto is_plain_float = [](ScalarType t) {
    return t == ScalarType::f16 || t == ScalarType::bf16 || t == ScalarType::tf32 || t == ScalarType::f32 ||
           t == ScalarType::f64;
  };
  if ((to == ScalarType::f16x2 || to == ScalarType::bf16x2) && from == ScalarType::f32 && i.operands.size() == 3)
    return convert_to_packed_half(l, to);
  if (is_fp8_pair(to) || is_fp8_pair(from)) return convert_fp8(l, to, from);
  const bool to_integer = ptx::is_integer(to), from_integer = ptx::is_integer(from);
  if (to_integer && from_integer) return convert_integers(l, to, from);
  if (to_integer && is_plain_float(from)) return convert_float_to_integer(l, to, from);
  if (is_plain_float(to) && from_integer) return convert_integer_to_float(l, to, from);
  if (is_plain_float(to) && is_plain_float(from)) return convert_floats(l, to, from);
  l.unsupported("this pair of types");
}

// mov.b64 d, {a, b} and mov.b64 {a, b}, d: the first element is the least significant.
void lower_mov_vector(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const ScalarType t = i.type();
  const unsigned bits = ptx::bits(t);
  const auto part_type = [&](std::size_t n) {
    switch (bits / n) {
      case 8:
        return ScalarType::b8;
      case 16:
        return ScalarType::b16;
      case 32:
        return ScalarType::b32;
      default:
        return ScalarType::b64;
    }
  };
  llvm::Type* whole = l.value_type(ir.getIntNTy(bits));
  const ptx::Operand& d = i.operands[0];
  const ptx::Operand& s = i.operands[1];
  Value* v = nullptr;
  if (s.kind == OperandKind::vector) {
    const ScalarType part = part_type(s.elements.size());
    for (std::size_t k = 0; k < s.elements.size(); ++k) {
      Value* e = ir.CreateZExt(l.read(s.elements[k], part), whole);
      if (k) e = ir.CreateShl(e, llvm::ConstantInt::get(whole, k * ptx::bits(part)));
      v = v ? ir.CreateOr(v, e) : e;
    }
  } else {
    v = l.source(1, t);
  }
  if (d.kind != OperandKind::vector) return l.result(0, v, t);
  const ScalarType part = part_type(d.elements.size());
  for (std::size_t k = 0; k < d.elements.size(); ++k) {
    Value* e = k ? ir.CreateLShr(v, llvm::ConstantInt::get(whole, k * ptx::bits(part))) : v;
    l.write(d.elements[k], ir.CreateTrunc(e, l.value_type(part)), part);
  }
}

void lower_isspacep(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, ScalarType::b64);
  const auto within = [&](std::uint64_t window) {
    return ir.CreateICmpULT(ir.CreateSub(a, l.constant(ScalarType::b64, window)),
                            l.constant(ScalarType::b64, kWindowSize));
  };
  Value* r = nullptr;
  switch (l.instruction().space) {
    case StateSpace::shared:
      r = within(kSharedWindow);
      break;
    case StateSpace::local:
      r = within(kLocalWindow);
      break;
    case StateSpace::global:
      r = ir.CreateNot(ir.CreateOr(within(kSharedWindow), within(kLocalWindow)));
      break;
    default:
      return l.unsupported("isspacep for this space");
  }
  l.result(0, r, ScalarType::pred);
}

}  // namespace

std::initializer_list<LoweringEntry> conversion_lowerings() {
  static const std::initializer_list<LoweringEntry> table = {
      {Opcode::cvt, lower_cvt}, {Opcode::mov, lower_mov_vector}, {Opcode::isspacep, lower_isspacep}};
  return table;
}

}  // namespace warpgrind::jit
