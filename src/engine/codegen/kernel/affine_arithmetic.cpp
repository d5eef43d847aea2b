// Addition, multiplication, conversion and address arithmetic on affine and wide values.
#include "codegen/kernel/affine_arithmetic.h"

#include "base/assert.h"
#include "base/wrapping.h"
#include "flow/transfer.h"

namespace warpgrind::jit {

using flow::FormKind;
using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;

Affine AffineArithmetic::operand(std::size_t index, unsigned width) {
  return registers_.read_affine(f_.instruction().operands[index], width);
}

// a + b or a - b. At most one of two 64-bit values carries lanes.
Affine AffineArithmetic::sum(const Affine& a, const Affine& b, bool minus) {
  const auto op = [&](Value* x, Value* y) { return minus ? ir_.CreateSub(x, y) : ir_.CreateAdd(x, y); };
  WG_ASSERT(a.wide == b.wide && !(a.carries_lanes && b.carries_lanes));
  if (a.wide) {
    const bool lanes_in_b = b.carries_lanes;
    Affine r = lanes_in_b ? b : a;
    r.base = op(a.base, b.base);
    if (lanes_in_b && minus) r.scale = wrapping_negative(b.scale);
    r.carries_lanes = a.carries_lanes || b.carries_lanes;
    return r;
  }
  Affine r = a;
  r.b = op(a.b, b.b);
  r.kx = op(a.kx, b.kx);
  r.ky = op(a.ky, b.ky);
  return r;
}

// by32: the factor as a value (32-bit affine); by: as a literal (wide).
Affine AffineArithmetic::scaled(Affine a, Value* by32, std::optional<std::int64_t> by) {
  WG_ASSERT(a.wide ? by.has_value() : by32 != nullptr);
  if (a.wide) {
    a.base = ir_.CreateMul(a.base, ir_.getInt64(static_cast<std::uint64_t>(*by)));
    a.scale = wrapping_multiply(a.scale, *by);
  } else {
    a.b = ir_.CreateMul(a.b, by32);
    a.kx = ir_.CreateMul(a.kx, by32);
    a.ky = ir_.CreateMul(a.ky, by32);
  }
  return a;
}

// Product of the first two sources, one of which is uniform.
Affine AffineArithmetic::product(bool widening) {
  const ptx::Instruction& i = f_.instruction();
  const bool first = registers_.form(i.operands[2]).kind == FormKind::uniform;
  const std::size_t lanes = first ? 1 : 2, other = first ? 2 : 1;
  WG_ASSERT(registers_.form(i.operands[other]).kind == FormKind::uniform);
  if (widening) {
    Affine a = operand(lanes, 32);
    a.wide = a.carries_lanes = true;
    a.is_signed = ptx::is_signed(i.type());
    WG_ASSERT(flow::literal(i.operands[other]));
    a.scale = *flow::literal(i.operands[other]);
    a.base = ir_.getInt64(0);
    return a;
  }
  const unsigned width = ptx::bits(i.type());
  Value* factor = width == 32 ? registers_.read_scalar(i.operands[other], ScalarType::b32) : nullptr;
  return scaled(operand(lanes, width), factor, flow::literal(i.operands[other]));
}

Affine AffineArithmetic::multiply_add(unsigned width) {
  const ptx::Instruction& i = f_.instruction();
  const bool widening = i.has(Modifier::wide);
  const bool uniform_product = registers_.form(i.operands[1]).kind == FormKind::uniform &&
                               registers_.form(i.operands[2]).kind == FormKind::uniform;
  if (!uniform_product) return sum(product(widening), operand(3, width), false);
  Value* x = registers_.read_scalar(i.operands[1], i.type());
  Value* y = registers_.read_scalar(i.operands[2], i.type());
  if (widening) {
    const bool s = ptx::is_signed(i.type());
    x = s ? ir_.CreateSExt(x, ir_.getInt64Ty()) : ir_.CreateZExt(x, ir_.getInt64Ty());
    y = s ? ir_.CreateSExt(y, ir_.getInt64Ty()) : ir_.CreateZExt(y, ir_.getInt64Ty());
  }
  Affine r = operand(3, width);
  Value*& at = width == 64 ? r.base : r.b;
  at = ir_.CreateAdd(at, ir_.CreateMul(x, y));
  return r;
}

Affine AffineArithmetic::converted(unsigned width) {
  const ptx::Instruction& i = f_.instruction();
  const bool from_wide = registers_.form(i.operands[1]).kind == FormKind::wide;
  Affine a = operand(1, from_wide ? 64 : 32);
  if (width == 64 && !from_wide) {
    a.wide = a.carries_lanes = true;
    a.base = ir_.getInt64(0);
    a.scale = 1;
    a.is_signed = ptx::is_signed(i.type(1));
  } else if (width == 32 && from_wide) {
    Value* scale = ir_.getInt32(static_cast<std::uint32_t>(a.scale));
    Affine n;
    n.b = ir_.CreateAdd(ir_.CreateTrunc(a.base, ir_.getInt32Ty()), ir_.CreateMul(a.b, scale));
    n.kx = ir_.CreateMul(a.kx, scale);
    n.ky = ir_.CreateMul(a.ky, scale);
    a = n;
  }
  return a;
}

Affine AffineArithmetic::negated(Affine a) {
  if (a.wide) {
    a.base = ir_.CreateNeg(a.base);
    a.scale = wrapping_negative(a.scale);
  } else {
    a.b = ir_.CreateNeg(a.b);
    a.kx = ir_.CreateNeg(a.kx);
    a.ky = ir_.CreateNeg(a.ky);
  }
  return a;
}

// mov and cvta. Shared and local addresses move between their space and its window of the generic space.
Affine AffineArithmetic::address(unsigned width) {
  const ptx::Instruction& i = f_.instruction();
  Affine a = operand(1, width);
  if (i.opcode != Opcode::cvta || (i.space != StateSpace::shared && i.space != StateSpace::local)) return a;
  Value* window = ir_.getInt64(i.space == StateSpace::shared ? kSharedWindow : kLocalWindow);
  a.base = i.has(Modifier::to) ? ir_.CreateSub(a.base, window) : ir_.CreateAdd(a.base, window);
  return a;
}

std::optional<Affine> AffineArithmetic::make(unsigned width) {
  const ptx::Instruction& i = f_.instruction();
  using Op = ptx::IntegerOperation;
  const Op operation = ptx::info(i.opcode).integer;
  switch (operation) {
    case Op::copy:
    case Op::address:
      return address(width);
    case Op::sum:
      return sum(operand(1, width), operand(2, width), false);
    case Op::difference:
      return sum(operand(1, width), operand(2, width), true);
    case Op::negative:
      return negated(operand(1, width));
    case Op::complement: {
      Affine a = negated(operand(1, width));
      Value*& at = a.wide ? a.base : a.b;
      at = ir_.CreateAdd(at, llvm::ConstantInt::getAllOnesValue(at->getType()));
      return a;
    }
    case Op::product:
      return product(i.has(Modifier::wide));
    case Op::product_and_sum:
      return multiply_add(width);
    case Op::shift_left: {
      const std::int64_t shift = *flow::literal(i.operands[2]);
      Value* factor = width == 32 ? ir_.getInt32(1u << shift) : nullptr;
      return scaled(operand(1, width), factor, std::int64_t{1} << shift);
    }
    case Op::disjunction:
    case Op::conjunction: {
      Affine a = operand(1, 32);
      Value* literal = ir_.getInt32(static_cast<std::uint32_t>(*flow::literal(i.operands[2])));
      a.b = operation == Op::disjunction ? ir_.CreateAdd(a.b, literal) : ir_.CreateAnd(a.b, literal);
      return a;
    }
    case Op::conversion:
      return converted(width);
    case Op::other:
    case Op::load:
    case Op::exclusive:
    case Op::table:
    case Op::product_24:
    case Op::product_24_and_sum:
    case Op::shift_right:
    case Op::extreme:
    case Op::remainder:
    case Op::selection:
    case Op::comparison:
      return std::nullopt;
  }
  WG_ASSERT(false);
  return std::nullopt;
}

bool AffineArithmetic::lower() {
  const ptx::Instruction& i = f_.instruction();
  if (i.operands.empty() || i.operands[0].kind != ptx::OperandKind::reg) return false;
  if (f_.now.guard) return false;  // lanes are blended, so the register is varying
  const ptx::RegId destination = i.operands[0].index;
  // Form of this instruction's result, which may be better than the register's joined form.
  const flow::Form made = registers_.result_form();
  if (made.kind != FormKind::affine && made.kind != FormKind::wide) return false;
  const flow::Form& kept = registers_.form(destination);
  // For a varying register, the vector is computed directly from the operands. Only mov and cvta have no other
  // lowering.
  if ((kept.kind == FormKind::varying || kept.kind == FormKind::uniform) && i.opcode != Opcode::mov &&
      i.opcode != Opcode::cvta)
    return false;
  const std::optional<Affine> value = make(made.kind == FormKind::wide ? 64 : 32);
  if (value) registers_.write_affine(destination, *value);
  return value.has_value();
}

}  // namespace warpgrind::jit
