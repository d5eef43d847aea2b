// Lowering of PTX ISA, "Comparison and Selection Instructions" (also of half precision).
#include <llvm/IR/Constants.h>

#include "base/assert.h"
#include "codegen/families/families.h"
#include "codegen/families/floating_arithmetic.h"
#include "codegen/kernel/lower.h"

namespace warpgrind::jit {

namespace {

using llvm::CmpInst;
using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;

struct Comparison {
  Modifier modifier;
  CmpInst::Predicate signed_integer, unsigned_integer, floating;
};

constexpr Comparison kComparisons[] = {
    {Modifier::eq, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ, CmpInst::FCMP_OEQ},
    {Modifier::ne, CmpInst::ICMP_NE, CmpInst::ICMP_NE, CmpInst::FCMP_ONE},
    {Modifier::lt, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT, CmpInst::FCMP_OLT},
    {Modifier::le, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE, CmpInst::FCMP_OLE},
    {Modifier::gt, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT, CmpInst::FCMP_OGT},
    {Modifier::ge, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE, CmpInst::FCMP_OGE},
    {Modifier::lo, CmpInst::ICMP_ULT, CmpInst::ICMP_ULT, CmpInst::FCMP_OLT},
    {Modifier::ls, CmpInst::ICMP_ULE, CmpInst::ICMP_ULE, CmpInst::FCMP_OLE},
    {Modifier::hi, CmpInst::ICMP_UGT, CmpInst::ICMP_UGT, CmpInst::FCMP_OGT},
    {Modifier::hs, CmpInst::ICMP_UGE, CmpInst::ICMP_UGE, CmpInst::FCMP_OGE},
    {Modifier::equ, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ, CmpInst::FCMP_UEQ},
    {Modifier::neu, CmpInst::ICMP_NE, CmpInst::ICMP_NE, CmpInst::FCMP_UNE},
    {Modifier::ltu, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT, CmpInst::FCMP_ULT},
    {Modifier::leu, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE, CmpInst::FCMP_ULE},
    {Modifier::gtu, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT, CmpInst::FCMP_UGT},
    {Modifier::geu, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE, CmpInst::FCMP_UGE},
    {Modifier::num, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ, CmpInst::FCMP_ORD},
    {Modifier::nan, CmpInst::ICMP_NE, CmpInst::ICMP_NE, CmpInst::FCMP_UNO},
};

// The first modifier that is a comparison (`and`, `or`, `xor` follow it).
const Comparison& comparison_of(const ptx::Instruction& i) {
  for (Modifier m : i.modifiers)
    for (const Comparison& c : kComparisons)
      if (c.modifier == m) return c;
  WG_ASSERT(!"a comparison of the opcode's row");
  return kComparisons[0];
}

Value* compare(Lowering& l, const Comparison& c, ScalarType t, Value* a, Value* b) {
  if (!ptx::is_float(t)) return l.ir().CreateICmp(ptx::is_signed(t) ? c.signed_integer : c.unsigned_integer, a, b);
  if (l.instruction().has(Modifier::ftz) && t == ScalarType::f32) {
    a = flush_subnormal(l, a);
    b = flush_subnormal(l, b);
  }
  return l.ir().CreateFCmp(c.floating, a, b);
}

// Operands of a half-precision type as f32, half `h` of a packed pair.
Value* half_operand(Lowering& l, std::size_t k, ScalarType t, unsigned h) {
  const bool bf16 = t == ScalarType::bf16 || t == ScalarType::bf16x2;
  const bool packed = ptx::bits(t) == 32;
  llvm::IRBuilder<>& ir = l.ir();
  Value* bits = packed ? l.source(k, ScalarType::b32) : l.source(k, ScalarType::b16);
  if (packed) {
    if (h) bits = ir.CreateLShr(bits, l.constant(ScalarType::b32, 16));
    bits = ir.CreateTrunc(bits, l.value_type(ScalarType::b16));
  }
  return half_to_float(l, bits, bf16);
}

Value* combine(Lowering& l, Value* r, Value* c) {
  const ptx::Instruction& i = l.instruction();
  if (i.has(Modifier::and_)) return l.ir().CreateAnd(r, c);
  if (i.has(Modifier::or_)) return l.ir().CreateOr(r, c);
  if (i.has(Modifier::xor_)) return l.ir().CreateXor(r, c);
  return r;
}

Value* compare_operands(Lowering& l, const Comparison& c, ScalarType t, std::size_t first, unsigned h) {
  if (is_half_type(t))
    return compare(l, c, ScalarType::f32, half_operand(l, first, t, h), half_operand(l, first + 1, t, h));
  return compare(l, c, t, l.source(first, t), l.source(first + 1, t));
}

}  // namespace

void lower_setp(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const Comparison& c = comparison_of(i);
  const ScalarType t = i.type();
  const std::size_t first = i.has_second_destination ? 2 : 1;
  const bool packed = is_half_type(t) && ptx::bits(t) == 32;
  Value* with = i.operands.size() > first + 2 ? l.source(first + 2, ScalarType::pred) : nullptr;
  Value* r = compare_operands(l, c, t, first, 0);
  Value* second = packed ? compare_operands(l, c, t, first, 1) : l.ir().CreateNot(r);
  if (with) {
    r = combine(l, r, with);
    second = combine(l, second, with);
  }
  l.result(0, r, ScalarType::pred);
  if (i.has_second_destination) l.result(1, second, ScalarType::pred);
}

// set writes all ones (integer types) or 1.0 (floating types) for true.
void lower_set(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const Comparison& c = comparison_of(i);
  llvm::IRBuilder<>& ir = l.ir();
  const ScalarType to = i.type(0), from = i.type(1);
  Value* with = i.operands.size() > 3 ? l.source(3, ScalarType::pred) : nullptr;
  const auto one = [&](unsigned h) {
    Value* r = compare_operands(l, c, from, 1, h);
    return with ? combine(l, r, with) : r;
  };
  if (is_half_type(from) && ptx::bits(from) == 32) {
    const bool bits = !ptx::is_float(to);
    const std::uint64_t truth = bits ? 0xffff : (to == ScalarType::bf16x2 ? 0x3f80 : 0x3c00);
    Value* low = ir.CreateSelect(one(0), l.constant(ScalarType::b32, truth), l.constant(ScalarType::b32, 0));
    Value* high = ir.CreateSelect(one(1), l.constant(ScalarType::b32, truth << 16), l.constant(ScalarType::b32, 0));
    return l.result(0, ir.CreateOr(low, high), ScalarType::b32);
  }
  Value* r = one(0);
  if (to == ScalarType::f32) return l.result(0, ir.CreateSelect(r, l.constant(to, 0x3f800000), l.constant(to, 0)), to);
  if (to == ScalarType::f16 || to == ScalarType::bf16)
    return l.result(0,
                    ir.CreateSelect(r, l.constant(ScalarType::b16, to == ScalarType::f16 ? 0x3c00 : 0x3f80),
                                    l.constant(ScalarType::b16, 0)),
                    ScalarType::b16);
  l.result(0, ir.CreateSExt(r, l.value_type(to)), to);
}

void lower_selp(Lowering& l) {
  const ScalarType t = l.instruction().type();
  l.result(0, l.ir().CreateSelect(l.source(3, ScalarType::pred), l.source(1, t), l.source(2, t)), t);
}

// d = c >= 0 ? a : b
void lower_slct(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const ScalarType t = i.type(0), ct = i.type(1);
  Value* c = l.source(3, ct);
  Value* yes = nullptr;
  if (ct == ScalarType::f32) {
    if (i.has(Modifier::ftz)) c = flush_subnormal(l, c);
    yes = l.ir().CreateFCmpOGE(c, l.constant(ct, 0));  // a NaN selects b
  } else {
    yes = l.ir().CreateICmpSGE(c, l.constant(ct, 0));
  }
  l.result(0, l.ir().CreateSelect(yes, l.source(1, t), l.source(2, t)), t);
}

}  // namespace warpgrind::jit
