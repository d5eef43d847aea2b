// Lowering of PTX ISA, "Logic and Shift Instructions" and of the bit-field part of "Integer Arithmetic Instructions".
#include <llvm/IR/Constants.h>

#include "codegen/kernel/lower.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;

}  // namespace

void lower_logic(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const ScalarType t = i.type();
  Value* a = l.source(1, t);
  llvm::IRBuilder<>& ir = l.ir();
  switch (i.opcode) {
    case Opcode::and_:
      return l.result(0, ir.CreateAnd(a, l.source(2, t)), t);
    case Opcode::or_:
      return l.result(0, ir.CreateOr(a, l.source(2, t)), t);
    case Opcode::xor_:
      return l.result(0, ir.CreateXor(a, l.source(2, t)), t);
    case Opcode::not_:
      return l.result(0, ir.CreateNot(a), t);
    default: {  // cnot: d = (a == 0) ? 1 : 0
      Value* zero = ir.CreateICmpEQ(a, llvm::Constant::getNullValue(a->getType()));
      return l.result(0, ir.CreateZExt(zero, a->getType()), t);
    }
  }
}

// Shift amounts are 32-bit and clamped to the width, since larger shifts are undefined in LLVM.
void lower_shift(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const ScalarType t = i.type();
  const unsigned bits = ptx::bits(t);
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, t);
  Value* amount = l.source(2, ScalarType::u32);
  const bool left = i.opcode == Opcode::shl, arithmetic = !left && ptx::is_signed(t);
  Value* limit = l.constant(ScalarType::u32, bits - 1);
  Value* over = ir.CreateICmpUGT(amount, limit);
  Value* by = ir.CreateZExtOrTrunc(ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, amount, limit), a->getType());
  if (arithmetic) return l.result(0, ir.CreateAShr(a, by), t);
  Value* r = left ? ir.CreateShl(a, by) : ir.CreateLShr(a, by);
  l.result(0, ir.CreateSelect(over, llvm::Constant::getNullValue(a->getType()), r), t);
}

// Funnel shift of {b, a}.
void lower_shf(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, ScalarType::b32);
  Value* b = l.source(2, ScalarType::b32);
  Value* c = l.source(3, ScalarType::u32);
  Value* n = i.has(Modifier::clamp)
                 ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, c, l.constant(ScalarType::u32, 32))
                 : ir.CreateAnd(c, l.constant(ScalarType::u32, 31));
  llvm::Type* wide = l.value_type(ir.getInt64Ty());
  Value* both =
      ir.CreateOr(ir.CreateZExt(a, wide), ir.CreateShl(ir.CreateZExt(b, wide), llvm::ConstantInt::get(wide, 32)));
  Value* shift = ir.CreateZExt(n, wide);
  Value* r = i.has(Modifier::l) ? ir.CreateLShr(ir.CreateShl(both, shift), llvm::ConstantInt::get(wide, 32))
                                : ir.CreateLShr(both, shift);
  l.result(0, ir.CreateTrunc(r, a->getType()), ScalarType::b32);
}

void lower_lop3(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  const ptx::Instruction& i = l.instruction();
  const std::size_t first = i.has_second_destination ? 2 : 1;
  Value* v[3] = {l.source(first, ScalarType::b32), l.source(first + 1, ScalarType::b32),
                 l.source(first + 2, ScalarType::b32)};
  const auto table = static_cast<unsigned>(i.operands[first + 3].bits);
  Value* r = llvm::Constant::getNullValue(v[0]->getType());
  for (unsigned k = 0; k < 8; ++k) {  // bit k of the table: inputs (a, b, c) = bits 2, 1, 0 of k
    if (!(table >> k & 1)) continue;
    Value* term = nullptr;
    for (unsigned j = 0; j < 3; ++j) {
      Value* x = k >> (2 - j) & 1 ? v[j] : ir.CreateNot(v[j]);
      term = term ? ir.CreateAnd(term, x) : x;
    }
    r = ir.CreateOr(r, term);
  }
  l.result(0, r, ScalarType::b32);
  if (i.has_second_destination) {  // p = (d != 0) BoolOp q
    Value* p = ir.CreateICmpNE(r, llvm::Constant::getNullValue(r->getType()));
    Value* q = l.source(first + 4, ScalarType::pred);
    l.result(1, i.has(Modifier::and_) ? ir.CreateAnd(p, q) : ir.CreateOr(p, q), ScalarType::pred);
  }
}

void lower_bit_count(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const ScalarType t = i.type();
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, t);
  llvm::Type* u32 = l.value_type(ScalarType::u32);
  const auto narrow = [&](Value* v) { return ir.CreateZExtOrTrunc(v, u32); };
  const auto leading = [&](Value* v) {
    return narrow(ir.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, v, ir.getInt1(false)));
  };
  switch (i.opcode) {
    case Opcode::popc:
      return l.result(0, narrow(ir.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a)), ScalarType::u32);
    case Opcode::clz:
      return l.result(0, leading(a), ScalarType::u32);
    case Opcode::brev:
      return l.result(0, ir.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, a), t);
    default: {  // bfind: most significant bit that differs from the sign; all ones if there is none
      const unsigned bits = ptx::bits(t);
      if (ptx::is_signed(t)) a = ir.CreateXor(a, ir.CreateAShr(a, l.constant(t, bits - 1)));
      Value* zeros = leading(a);
      Value* none = ir.CreateICmpEQ(zeros, l.constant(ScalarType::u32, bits));
      Value* r = i.has(Modifier::shiftamt) ? zeros : ir.CreateSub(l.constant(ScalarType::u32, bits - 1), zeros);
      return l.result(0, ir.CreateSelect(none, l.constant(ScalarType::u32, 0xffffffffu), r), ScalarType::u32);
    }
  }
}

namespace {

// A mask of `length` low ones (length >= bits: all ones), in the type of `like`.
Value* low_ones(Lowering& l, Value* length, unsigned bits, ScalarType t) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* all = ir.CreateICmpUGE(length, l.constant(ScalarType::u32, bits));
  Value* by = ir.CreateZExtOrTrunc(ir.CreateAnd(length, l.constant(ScalarType::u32, bits - 1)), l.value_type(t));
  Value* ones = ir.CreateSub(ir.CreateShl(l.constant(t, 1), by), l.constant(t, 1));
  return ir.CreateSelect(all, llvm::Constant::getAllOnesValue(ones->getType()), ones);
}

Value* clamped_shift(Lowering& l, Value* v, Value* amount, unsigned bits, bool left) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* over = ir.CreateICmpUGE(amount, l.constant(ScalarType::u32, bits));
  Value* by = ir.CreateZExtOrTrunc(ir.CreateAnd(amount, l.constant(ScalarType::u32, bits - 1)), v->getType());
  Value* r = left ? ir.CreateShl(v, by) : ir.CreateLShr(v, by);
  return ir.CreateSelect(over, llvm::Constant::getNullValue(v->getType()), r);
}

}  // namespace

// Field of `length` bits from `start`. Bits beyond the top are the sign (signed) or zero. The 32-bit form uses the low
// 8 bits of start and length. In the 64-bit form, an H200 uses all of their bits.
void lower_bfe(Lowering& l) {
  const ScalarType t = l.instruction().type();
  const unsigned bits = ptx::bits(t);
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, t);
  Value* counts = l.constant(ScalarType::u32, bits == 32 ? 255 : 0xffffffffu);
  Value* start = ir.CreateAnd(l.source(2, ScalarType::u32), counts);
  Value* length = ir.CreateAnd(l.source(3, ScalarType::u32), counts);
  Value* mask = low_ones(l, length, bits, t);
  Value* field = ir.CreateAnd(clamped_shift(l, a, start, bits, false), mask);
  if (ptx::is_signed(t)) {
    // The sign is bit min(start + length - 1, msb) of a. With length 0 there is none.
    Value* top =
        ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin,
                                 ir.CreateSub(ir.CreateBinaryIntrinsic(llvm::Intrinsic::uadd_sat, start, length),
                                              l.constant(ScalarType::u32, 1)),
                                 l.constant(ScalarType::u32, bits - 1));
    Value* sign = ir.CreateAnd(ir.CreateLShr(a, ir.CreateZExtOrTrunc(top, a->getType())), l.constant(t, 1));
    Value* negative =
        ir.CreateAnd(ir.CreateICmpNE(sign, l.constant(t, 0)), ir.CreateICmpNE(length, l.constant(ScalarType::u32, 0)));
    // Bits above those that the field takes from a. Fewer than `length` exist if start + length exceeds the top.
    Value* above = ir.CreateNot(
        ir.CreateAnd(mask, clamped_shift(l, llvm::Constant::getAllOnesValue(a->getType()), start, bits, false)));
    field = ir.CreateSelect(negative, ir.CreateOr(field, above), field);
  }
  l.result(0, field, t);
}

void lower_bfi(Lowering& l) {
  const ScalarType t = l.instruction().type();
  const unsigned bits = ptx::bits(t);
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, t);
  Value* b = l.source(2, t);
  Value* counts = l.constant(ScalarType::u32, bits == 32 ? 255 : 0xffffffffu);
  Value* start = ir.CreateAnd(l.source(3, ScalarType::u32), counts);
  Value* length = ir.CreateAnd(l.source(4, ScalarType::u32), counts);
  Value* mask = clamped_shift(l, low_ones(l, length, bits, t), start, bits, true);
  Value* put = clamped_shift(l, a, start, bits, true);
  l.result(0, ir.CreateOr(ir.CreateAnd(put, mask), ir.CreateAnd(b, ir.CreateNot(mask))), t);
}

void lower_bmsk(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  const ScalarType t = ScalarType::b32;
  Value* start = l.source(1, ScalarType::u32);
  Value* length = l.source(2, ScalarType::u32);
  if (!l.instruction().has(Modifier::clamp)) {
    start = ir.CreateAnd(start, l.constant(t, 31));
    length = ir.CreateAnd(length, l.constant(t, 31));
  }
  l.result(0, clamped_shift(l, low_ones(l, length, 32, t), start, 32, true), t);
}

void lower_szext(Lowering& l) {
  const ScalarType t = l.instruction().type();
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, t);
  Value* n = l.source(2, ScalarType::u32);
  if (!l.instruction().has(Modifier::clamp)) n = ir.CreateAnd(n, l.constant(ScalarType::u32, 31));
  Value* mask = low_ones(l, n, 32, t);
  Value* r = ir.CreateAnd(a, mask);
  if (ptx::is_signed(t)) {
    Value* top = ir.CreateSub(ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, n, l.constant(t, 32)), l.constant(t, 1));
    Value* sign = ir.CreateAnd(clamped_shift(l, a, top, 32, false), l.constant(t, 1));
    r = ir.CreateSelect(ir.CreateICmpNE(sign, l.constant(t, 0)), ir.CreateOr(r, ir.CreateNot(mask)), r);
  }
  l.result(0, r, t);
}

// Byte permute. The default mode selects bytes of {b, a} by nibbles of c (bit 3: replicate the sign). The other modes
// have fixed patterns.
void lower_prmt(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  llvm::Type* wide = l.value_type(ir.getInt64Ty());
  Value* a = l.source(1, ScalarType::b32);
  Value* b = l.source(2, ScalarType::b32);
  Value* c = l.source(3, ScalarType::b32);
  Value* both =
      ir.CreateOr(ir.CreateZExt(a, wide), ir.CreateShl(ir.CreateZExt(b, wide), llvm::ConstantInt::get(wide, 32)));
  const auto byte_at = [&](Value* position) {
    Value* shift = ir.CreateShl(ir.CreateZExt(position, wide), llvm::ConstantInt::get(wide, 3));
    return ir.CreateAnd(ir.CreateTrunc(ir.CreateLShr(both, shift), a->getType()), l.constant(ScalarType::b32, 255));
  };
  const auto number = [&](std::uint64_t v) { return l.constant(ScalarType::b32, v); };
  Value* low = ir.CreateAnd(c, number(3));
  Value* r = number(0);
  for (unsigned k = 0; k < 4; ++k) {
    Value* byte = nullptr;
    if (i.has(Modifier::f4e))
      byte = byte_at(ir.CreateAdd(low, number(k)));
    else if (i.has(Modifier::b4e))
      byte = byte_at(ir.CreateAnd(ir.CreateSub(low, number(k)), number(7)));
    else if (i.has(Modifier::rc8))
      byte = byte_at(low);
    else if (i.has(Modifier::ecl))
      byte = byte_at(ir.CreateBinaryIntrinsic(llvm::Intrinsic::umax, low, number(k)));
    else if (i.has(Modifier::ecr))
      byte = byte_at(ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, low, number(k)));
    else if (i.has(Modifier::rc16))
      byte = byte_at(ir.CreateAdd(ir.CreateShl(ir.CreateAnd(c, number(1)), number(1)), number(k & 1)));
    else {
      Value* selector = ir.CreateAnd(ir.CreateLShr(c, number(4 * k)), number(15));
      byte = byte_at(ir.CreateAnd(selector, number(7)));
      Value* sign = ir.CreateSub(number(0), ir.CreateLShr(byte, number(7)));
      byte = ir.CreateSelect(ir.CreateICmpNE(ir.CreateAnd(selector, number(8)), number(0)),
                             ir.CreateAnd(sign, number(255)), byte);
    }
    r = ir.CreateOr(r, ir.CreateShl(byte, number(8 * k)));
  }
  l.result(0, r, ScalarType::b32);
}

void lower_fns(Lowering& l) {
  l.result(0,
           l.call_lanes("wg_fns", l.ir().getInt32Ty(),
                        {l.source(1, ScalarType::b32), l.source(2, ScalarType::b32), l.source(3, ScalarType::b32)}),
           ScalarType::b32);
}

}  // namespace warpgrind::jit
