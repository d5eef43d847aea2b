// Lowering of PTX ISA, "Video Instructions": scalar forms on one selected byte, halfword or word, and SIMD forms on
// four bytes or two halfwords. They follow the manual. New GPUs have no such instructions any more, and the assembler's
// code differs from the manual for some scalar .sat forms (tests/exec), and for .min and .max of unsigned results
// beyond 2^31 (tests/random/explained_differences.txt).
#include <llvm/IR/Constants.h>

#include "codegen/kernel/lower.h"

namespace warpgrind::jit {

namespace {

using llvm::CmpInst;
using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;

// Selector `.b2`, `.h10` ...: the digits. The last one written comes first (it means part 0).
struct Selector {
  unsigned width = 32;  // bits per part
  unsigned count = 0;
  unsigned digit[4] = {0, 1, 2, 3};
};

Selector selector_of(const ptx::Operand& o) {
  Selector s;
  if (o.selector == 0) return s;
  s.width = o.selector >> 31 ? 16 : 8;
  s.count = o.selector >> 16 & 15;
  for (unsigned k = 0; k < s.count && k < 4; ++k) s.digit[k] = o.selector >> (4 * (s.count - 1 - k)) & 7;
  return s;
}

// Arithmetic in 64 bits, in which no intermediate result overflows (vmad too: 32 x 32 bits plus 33).
struct Video {
  Lowering& l;
  llvm::IRBuilder<>& ir = l.ir();
  const ptx::Instruction& i = l.instruction();
  llvm::Type* wide = l.value_type(ir.getInt64Ty());

  Value* number(std::int64_t v) const { return llvm::ConstantInt::get(wide, static_cast<std::uint64_t>(v), true); }
  Value* binary(llvm::Intrinsic::ID id, Value* a, Value* b) const { return ir.CreateBinaryIntrinsic(id, a, b); }
  Value* smaller(Value* a, Value* b) const { return binary(llvm::Intrinsic::smin, a, b); }
  Value* larger(Value* a, Value* b) const { return binary(llvm::Intrinsic::smax, a, b); }
  Value* clamp(Value* v, unsigned bits, bool is_signed) const {
    const std::int64_t low = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
    const std::int64_t high = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    return smaller(larger(v, number(low)), number(high));
  }
  Value* word(std::size_t k) const { return ir.CreateZExt(l.source(k, ScalarType::b32), wide); }
  // Bits [at, at + bits) of v, extended.
  Value* field(Value* v, unsigned at, unsigned bits, bool is_signed) const {
    Value* up = ir.CreateShl(v, number(64 - at - bits));
    return is_signed ? ir.CreateAShr(up, number(64 - bits)) : ir.CreateLShr(up, number(64 - bits));
  }
  // Operand k through its selector.
  Value* selected(std::size_t k, ScalarType type) const {
    const Selector s = selector_of(i.operands[k]);
    return field(word(k), s.count ? s.digit[0] * s.width : 0, s.width, ptx::is_signed(type));
  }
  void store(Value* v) const { l.result(0, ir.CreateTrunc(v, l.value_type(ScalarType::b32)), ScalarType::b32); }

  Value* comparison(Value* a, Value* b) const {
    CmpInst::Predicate p = CmpInst::ICMP_EQ;
    if (i.has(Modifier::ne)) p = CmpInst::ICMP_NE;
    if (i.has(Modifier::lt)) p = CmpInst::ICMP_SLT;
    if (i.has(Modifier::le)) p = CmpInst::ICMP_SLE;
    if (i.has(Modifier::gt)) p = CmpInst::ICMP_SGT;
    if (i.has(Modifier::ge)) p = CmpInst::ICMP_SGE;
    return ir.CreateZExt(ir.CreateICmp(p, a, b), wide);
  }

  Value* operation(Value* a, Value* b) const {
    switch (i.opcode) {
      case Opcode::vadd:
      case Opcode::vadd2:
      case Opcode::vadd4:
        return ir.CreateAdd(a, b);
      case Opcode::vsub:
      case Opcode::vsub2:
      case Opcode::vsub4:
        return ir.CreateSub(a, b);
      case Opcode::vabsdiff:
      case Opcode::vabsdiff2:
      case Opcode::vabsdiff4:
        return binary(llvm::Intrinsic::abs, ir.CreateSub(a, b), ir.getInt1(false));
      case Opcode::vmin:
      case Opcode::vmin2:
      case Opcode::vmin4:
        return smaller(a, b);
      case Opcode::vmax:
      case Opcode::vmax2:
      case Opcode::vmax4:
        return larger(a, b);
      case Opcode::vavrg2:
      case Opcode::vavrg4: {  // halves are rounded away from zero
        Value* sum = ir.CreateAdd(a, b);
        Value* up = ir.CreateZExt(ir.CreateICmpSGE(sum, number(0)), wide);
        return ir.CreateAShr(ir.CreateAdd(sum, up), number(1));
      }
      case Opcode::vshl:
      case Opcode::vshr: {
        Value* by = i.has(Modifier::clamp) ? binary(llvm::Intrinsic::umin, b, number(32)) : ir.CreateAnd(b, number(31));
        return i.opcode == Opcode::vshl ? ir.CreateShl(a, by) : ir.CreateAShr(a, by);
      }
      default:
        return comparison(a, b);
    }
  }
};

}  // namespace

// d = op(a, b), saturated to the destination's part, then combined with c or merged into it.
void lower_video(Lowering& l) {
  const Video v{l};
  const ptx::Instruction& i = v.i;
  const bool set = i.opcode == Opcode::vset;
  const ScalarType to = set ? ScalarType::u32 : i.type(0);
  const ScalarType a_type = i.type(set ? 0 : 1), b_type = i.type(set ? 1 : 2);
  const bool is_signed = ptx::is_signed(to);
  const Selector d = selector_of(i.operands[0]);
  Value* r = v.operation(v.selected(1, a_type), v.selected(2, b_type));
  if (i.has(Modifier::sat)) r = v.clamp(r, d.width, is_signed);
  const bool add = i.has(Modifier::add), min = i.has(Modifier::min), max = i.has(Modifier::max);
  if (add || min || max) {
    Value* c = v.field(v.word(3), 0, 32, is_signed);
    if (!add) r = v.field(r, 0, 32, is_signed);
    return v.store(add ? v.ir.CreateAdd(r, c) : min ? v.smaller(r, c) : v.larger(r, c));
  }
  if (d.count) {
    const std::uint64_t mask = ((std::uint64_t{1} << d.width) - 1) << (d.digit[0] * d.width);
    Value* part =
        v.ir.CreateAnd(v.ir.CreateShl(r, v.number(d.digit[0] * d.width)), v.number(static_cast<std::int64_t>(mask)));
    r = v.ir.CreateOr(part, v.ir.CreateAnd(v.word(3), v.number(static_cast<std::int64_t>(~mask))));
  }
  v.store(r);
}

// d = ((+-a * b) +- c + 1 if .po) >> scale. The manual defines -x as ~x + 1, which is the same here, since nothing
// overflows.
void lower_vmad(Lowering& l) {
  const Video v{l};
  const ptx::Instruction& i = v.i;
  llvm::IRBuilder<>& ir = v.ir;
  const bool minus_product = i.operands[1].negated != i.operands[2].negated, minus_c = i.operands[3].negated;
  const bool is_signed = ptx::is_signed(i.type(1)) || ptx::is_signed(i.type(2)) || minus_product || minus_c;
  // The unsigned product of 32 x 32 bits fills 64 bits, so the sum has 128.
  llvm::Type* sum_type = l.value_type(ir.getIntNTy(128));
  Value* a = ir.CreateSExt(v.selected(1, i.type(1)), sum_type);
  Value* b = ir.CreateSExt(v.selected(2, i.type(2)), sum_type);
  Value* c = ir.CreateSExt(v.field(v.word(3), 0, 32, is_signed), sum_type);
  Value* r = ir.CreateMul(a, b);
  if (minus_product) r = ir.CreateNeg(r);
  r = ir.CreateAdd(r, minus_c ? ir.CreateNeg(c) : c);
  if (i.has(Modifier::po)) r = ir.CreateAdd(r, llvm::ConstantInt::get(sum_type, 1));
  const unsigned shift = i.has(Modifier::shr7) ? 7 : i.has(Modifier::shr15) ? 15 : 0;
  r = ir.CreateAShr(r, llvm::ConstantInt::get(sum_type, shift));
  if (i.has(Modifier::sat)) {
    const llvm::APInt low = is_signed ? llvm::APInt::getSignedMinValue(32).sext(128) : llvm::APInt(128, 0);
    const llvm::APInt high =
        is_signed ? llvm::APInt::getSignedMaxValue(32).zext(128) : llvm::APInt::getMaxValue(32).zext(128);
    r = v.larger(r, llvm::ConstantInt::get(sum_type, low));
    r = v.smaller(r, llvm::ConstantInt::get(sum_type, high));
  }
  l.result(0, ir.CreateTrunc(r, l.value_type(ScalarType::b32)), ScalarType::b32);
}

namespace {

bool has_four_parts(Opcode o) {
  switch (o) {
    case Opcode::vadd4:
    case Opcode::vsub4:
    case Opcode::vavrg4:
    case Opcode::vabsdiff4:
    case Opcode::vmin4:
    case Opcode::vmax4:
    case Opcode::vset4:
      return true;
    default:
      return false;
  }
}

}  // namespace

// Each part of d is op of a part of a and a part of b (the selectors choose from both registers), or c's part if d's
// mask omits it. With .add: c plus the sum of the parts in the mask.
void lower_video_simd(Lowering& l) {
  const Video v{l};
  const ptx::Instruction& i = v.i;
  llvm::IRBuilder<>& ir = v.ir;
  const unsigned parts = has_four_parts(i.opcode) ? 4 : 2, bits = 32 / parts;
  const bool set = i.opcode == Opcode::vset2 || i.opcode == Opcode::vset4;
  const ScalarType a_type = i.type(set ? 0 : 1), b_type = i.type(set ? 1 : 2);
  const bool is_signed = !set && ptx::is_signed(i.type(0));
  Value* both = ir.CreateOr(v.word(1), ir.CreateShl(v.word(2), v.number(32)));
  Value* c = v.word(3);
  const Selector a = selector_of(i.operands[1]), b = selector_of(i.operands[2]), mask = selector_of(i.operands[0]);
  const auto is_on = [&](unsigned k) {
    for (unsigned m = 0; m < mask.count; ++m)
      if (mask.digit[m] == k) return true;
    return mask.count == 0;
  };
  Value* sum = c;
  Value* packed = v.number(0);
  for (unsigned k = 0; k < parts; ++k) {
    const unsigned from_a = a.count ? a.digit[k] : k, from_b = b.count ? b.digit[k] : k + parts;
    Value* r = v.operation(v.field(both, from_a * bits, bits, ptx::is_signed(a_type)),
                           v.field(both, from_b * bits, bits, ptx::is_signed(b_type)));
    if (i.has(Modifier::sat)) r = v.clamp(r, bits, is_signed);
    if (is_on(k)) sum = ir.CreateAdd(sum, r);
    Value* part = is_on(k) ? v.field(r, 0, bits, false) : v.field(c, k * bits, bits, false);
    packed = ir.CreateOr(packed, ir.CreateShl(part, v.number(k * bits)));
  }
  v.store(i.has(Modifier::add) ? sum : packed);
}

}  // namespace warpgrind::jit
