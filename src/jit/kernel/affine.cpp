// Arithmetic on affine and wide values (flow/transfer.cpp promises these forms; here they are built).
#include "jit/kernel/function_lowering.h"

namespace warpgrind::jit {

using flow::FormKind;
using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;

FunctionLowering::Affine FunctionLowering::affine_of(std::size_t operand, unsigned width) {
  return read_affine(instruction_->operands[operand], width);
}

// a + b or a - b; of two 64-bit values at most one carries lanes.
FunctionLowering::Affine FunctionLowering::affine_sum(const Affine& a, const Affine& b, bool minus) {
  const auto op = [&](Value* x, Value* y) { return minus ? ir_.CreateSub(x, y) : ir_.CreateAdd(x, y); };
  if (a.wide) {
    const bool lanes_in_b = b.carries_lanes;
    Affine r = lanes_in_b ? b : a;
    r.base = op(a.base, b.base);
    if (lanes_in_b && minus) r.scale = -b.scale;
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
FunctionLowering::Affine FunctionLowering::affine_scaled(Affine a, Value* by32, std::optional<std::int64_t> by) {
  if (a.wide) {
    a.base = ir_.CreateMul(a.base, ir_.getInt64(static_cast<std::uint64_t>(*by)));
    a.scale *= *by;
  } else {
    a.b = ir_.CreateMul(a.b, by32);
    a.kx = ir_.CreateMul(a.kx, by32);
    a.ky = ir_.CreateMul(a.ky, by32);
  }
  return a;
}

// The product of the first two sources, one of which is uniform.
FunctionLowering::Affine FunctionLowering::affine_product(bool widening) {
  const ptx::Instruction& i = *instruction_;
  const bool first = form(i.operands[2]).kind == FormKind::uniform;
  const std::size_t lanes = first ? 1 : 2, other = first ? 2 : 1;
  if (widening) {
    Affine a = affine_of(lanes, 32);
    a.wide = a.carries_lanes = true;
    a.is_signed = ptx::is_signed(i.type());
    a.scale = *flow::literal(i.operands[other]);
    a.base = ir_.getInt64(0);
    return a;
  }
  const unsigned width = ptx::bits(i.type());
  Value* factor = width == 32 ? read_scalar(i.operands[other], ScalarType::b32) : nullptr;
  return affine_scaled(affine_of(lanes, width), factor, flow::literal(i.operands[other]));
}

FunctionLowering::Affine FunctionLowering::affine_multiply_add(unsigned width) {
  const ptx::Instruction& i = *instruction_;
  const bool widening = i.has(Modifier::wide);
  const bool uniform_product =
      form(i.operands[1]).kind == FormKind::uniform && form(i.operands[2]).kind == FormKind::uniform;
  if (!uniform_product) return affine_sum(affine_product(widening), affine_of(3, width), false);
  Value* x = read_scalar(i.operands[1], i.type());
  Value* y = read_scalar(i.operands[2], i.type());
  if (widening) {
    const bool s = ptx::is_signed(i.type());
    x = s ? ir_.CreateSExt(x, ir_.getInt64Ty()) : ir_.CreateZExt(x, ir_.getInt64Ty());
    y = s ? ir_.CreateSExt(y, ir_.getInt64Ty()) : ir_.CreateZExt(y, ir_.getInt64Ty());
  }
  Affine r = affine_of(3, width);
  Value*& at = width == 64 ? r.base : r.b;
  at = ir_.CreateAdd(at, ir_.CreateMul(x, y));
  return r;
}

FunctionLowering::Affine FunctionLowering::affine_converted(unsigned width) {
  const ptx::Instruction& i = *instruction_;
  const bool from_wide = form(i.operands[1]).kind == FormKind::wide;
  Affine a = affine_of(1, from_wide ? 64 : 32);
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

FunctionLowering::Affine FunctionLowering::affine_negated(Affine a) {
  if (a.wide) {
    a.base = ir_.CreateNeg(a.base);
    a.scale = -a.scale;
  } else {
    a.b = ir_.CreateNeg(a.b);
    a.kx = ir_.CreateNeg(a.kx);
    a.ky = ir_.CreateNeg(a.ky);
  }
  return a;
}

// mov and cvta: shared and local addresses move between their space and its window of the generic space.
FunctionLowering::Affine FunctionLowering::affine_address(unsigned width) {
  const ptx::Instruction& i = *instruction_;
  Affine a = affine_of(1, width);
  if (i.opcode != Opcode::cvta || (i.space != StateSpace::shared && i.space != StateSpace::local)) return a;
  Value* window = ir_.getInt64(i.space == StateSpace::shared ? kSharedWindow : kLocalWindow);
  a.base = i.has(Modifier::to) ? ir_.CreateSub(a.base, window) : ir_.CreateAdd(a.base, window);
  return a;
}

std::optional<FunctionLowering::Affine> FunctionLowering::make_affine(unsigned width) {
  const ptx::Instruction& i = *instruction_;
  switch (i.opcode) {
    case Opcode::mov:
    case Opcode::cvta:
      return affine_address(width);
    case Opcode::add:
      return affine_sum(affine_of(1, width), affine_of(2, width), false);
    case Opcode::sub:
      return affine_sum(affine_of(1, width), affine_of(2, width), true);
    case Opcode::neg:
      return affine_negated(affine_of(1, width));
    case Opcode::mul:
      return affine_product(i.has(Modifier::wide));
    case Opcode::mad:
      return affine_multiply_add(width);
    case Opcode::shl: {
      const std::int64_t shift = *flow::literal(i.operands[2]);
      Value* factor = width == 32 ? ir_.getInt32(1u << shift) : nullptr;
      return affine_scaled(affine_of(1, width), factor, std::int64_t{1} << shift);
    }
    case Opcode::or_:
    case Opcode::and_: {
      Affine a = affine_of(1, 32);
      Value* literal = ir_.getInt32(static_cast<std::uint32_t>(*flow::literal(i.operands[2])));
      a.b = i.opcode == Opcode::or_ ? ir_.CreateAdd(a.b, literal) : ir_.CreateAnd(a.b, literal);
      return a;
    }
    case Opcode::cvt:
      return affine_converted(width);
    default:
      return std::nullopt;
  }
}

bool FunctionLowering::lower_affine() {
  const ptx::Instruction& i = *instruction_;
  if (i.operands.empty() || i.operands[0].kind != ptx::OperandKind::reg) return false;
  if (guard_bits_) return false;  // blended lane by lane: the register is varying
  const ptx::RegId destination = i.operands[0].index;
  // What this very instruction makes, which may be better than the register's joined form.
  const flow::Form made = flow::result_form(i, 0, analysis_.forms, layout_, function_);
  if (made.kind != FormKind::affine && made.kind != FormKind::wide) return false;
  const flow::Form& kept = form(destination);
  // Into a varying register the vector comes straight from the operands; only mov and cvta have no other lowering.
  if ((kept.kind == FormKind::varying || kept.kind == FormKind::uniform) && i.opcode != Opcode::mov &&
      i.opcode != Opcode::cvta)
    return false;
  const std::optional<Affine> value = make_affine(made.kind == FormKind::wide ? 64 : 32);
  if (value) write_affine(destination, *value);
  return value.has_value();
}

}  // namespace warpgrind::jit
