// Arithmetic on affine and wide values (flow/transfer.cpp promises these forms; here they are built).
#include "jit/function_lowering.h"

namespace warpgrind::jit {

using flow::FormKind;
using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;

FunctionLowering::Affine FunctionLowering::affine_of(std::size_t operand, unsigned width) {
  return read_affine(instruction_->operands[operand], width);
}

bool FunctionLowering::lower_affine() {
  const ptx::Instruction& i = *instruction_;
  if (i.operands.empty() || i.operands[0].kind != ptx::OperandKind::reg) return false;
  const ptx::RegId destination = i.operands[0].index;
  // What this very instruction makes, which may be better than the register's joined form.
  const flow::Form made = flow::result_form(i, 0, analysis_.forms, layout_, function_);
  if (made.kind != FormKind::affine && made.kind != FormKind::wide) return false;
  if (guard_bits_) return false;  // blended lane by lane: the register is varying
  const flow::Form& kept = form(destination);
  if (kept.kind == FormKind::varying || kept.kind == FormKind::uniform) {
    // Building the vector straight from the operands is as good as from affine parts, except where no lowering reads
    // wide forms.
    if (i.opcode != Opcode::mov && i.opcode != Opcode::cvta) return false;
  }
  const unsigned width = made.kind == FormKind::wide ? 64 : 32;
  const auto combine = [&](const Affine& a, const Affine& b, bool minus) {
    const auto op = [&](Value* x, Value* y) { return minus ? ir_.CreateSub(x, y) : ir_.CreateAdd(x, y); };
    Affine r = a;
    if (width == 64) {
      const bool lanes_in_b = form(i.operands[2]).kind == FormKind::wide && i.opcode != Opcode::mad;
      if (lanes_in_b) {
        r = b;
        r.base = op(a.base, b.base);
        if (minus) r.scale = -b.scale;
      } else {
        r.base = op(a.base, b.base);
      }
      return r;
    }
    r.b = op(a.b, b.b);
    r.kx = op(a.kx, b.kx);
    r.ky = op(a.ky, b.ky);
    return r;
  };
  const auto scale_by = [&](Affine a, Value* by32, std::optional<std::int64_t> by) {
    if (a.wide) {
      a.base = ir_.CreateMul(a.base, ir_.getInt64(static_cast<std::uint64_t>(*by)));
      a.scale *= *by;
    } else {
      a.b = ir_.CreateMul(a.b, by32);
      a.kx = ir_.CreateMul(a.kx, by32);
      a.ky = ir_.CreateMul(a.ky, by32);
    }
    return a;
  };
  const auto product = [&](bool wide) {
    const bool first = form(i.operands[2]).kind == FormKind::uniform;
    const std::size_t lanes = first ? 1 : 2, other = first ? 2 : 1;
    if (wide) {
      Affine a = affine_of(lanes, 32);
      a.wide = true;
      a.is_signed = ptx::is_signed(i.type());
      a.scale = *flow::literal(i.operands[other]);
      a.base = ir_.getInt64(0);
      return a;
    }
    const unsigned w = ptx::bits(i.type());
    Affine a = affine_of(lanes, w);
    return scale_by(a, w == 32 ? read_scalar(i.operands[other], ScalarType::b32) : nullptr,
                    flow::literal(i.operands[other]));
  };
  switch (i.opcode) {
    case Opcode::mov:
    case Opcode::cvta: {
      Affine a = affine_of(1, width);
      if (i.opcode == Opcode::cvta && i.space == StateSpace::shared) {
        Value* window = ir_.getInt64(kSharedWindow);
        a.base = i.has(Modifier::to) ? ir_.CreateSub(a.base, window) : ir_.CreateAdd(a.base, window);
      } else if (i.opcode == Opcode::cvta && i.space == StateSpace::local) {
        Value* window = ir_.getInt64(kLocalWindow);
        a.base = i.has(Modifier::to) ? ir_.CreateSub(a.base, window) : ir_.CreateAdd(a.base, window);
      }
      write_affine(destination, a);
      return true;
    }
    case Opcode::add:
      write_affine(destination, combine(affine_of(1, width), affine_of(2, width), false));
      return true;
    case Opcode::sub:
      write_affine(destination, combine(affine_of(1, width), affine_of(2, width), true));
      return true;
    case Opcode::neg: {
      Affine a = affine_of(1, width);
      const auto negate = [&](Value* v) { return ir_.CreateNeg(v); };
      if (a.wide) {
        a.base = negate(a.base);
        a.scale = -a.scale;
      } else {
        a.b = negate(a.b), a.kx = negate(a.kx), a.ky = negate(a.ky);
      }
      write_affine(destination, a);
      return true;
    }
    case Opcode::mul:
      write_affine(destination, product(i.has(Modifier::wide)));
      return true;
    case Opcode::mad: {
      const bool wide = i.has(Modifier::wide);
      const bool uniform_product =
          form(i.operands[1]).kind == FormKind::uniform && form(i.operands[2]).kind == FormKind::uniform;
      if (uniform_product) {
        Value* x = read_scalar(i.operands[1], i.type());
        Value* y = read_scalar(i.operands[2], i.type());
        if (wide) {
          const bool s = ptx::is_signed(i.type());
          x = s ? ir_.CreateSExt(x, ir_.getInt64Ty()) : ir_.CreateZExt(x, ir_.getInt64Ty());
          y = s ? ir_.CreateSExt(y, ir_.getInt64Ty()) : ir_.CreateZExt(y, ir_.getInt64Ty());
        }
        Affine r = affine_of(3, width);
        Value*& at = width == 64 ? r.base : r.b;
        at = ir_.CreateAdd(at, ir_.CreateMul(x, y));
        write_affine(destination, r);
      } else {
        write_affine(destination, combine(product(wide), affine_of(3, width), false));
      }
      return true;
    }
    case Opcode::shl: {
      const std::int64_t shift = *flow::literal(i.operands[2]);
      write_affine(destination, scale_by(affine_of(1, width), width == 32 ? ir_.getInt32(1u << shift) : nullptr,
                                         std::int64_t{1} << shift));
      return true;
    }
    case Opcode::or_:
    case Opcode::and_: {
      Affine a = affine_of(1, 32);
      Value* literal = ir_.getInt32(static_cast<std::uint32_t>(*flow::literal(i.operands[2])));
      a.b = i.opcode == Opcode::or_ ? ir_.CreateAdd(a.b, literal) : ir_.CreateAnd(a.b, literal);
      write_affine(destination, a);
      return true;
    }
    case Opcode::cvt: {
      const bool from_wide = form(i.operands[1]).kind == FormKind::wide;
      Affine a = affine_of(1, from_wide ? 64 : 32);
      if (width == 64 && !from_wide) {
        a.wide = true;
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
      write_affine(destination, a);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace warpgrind::jit
